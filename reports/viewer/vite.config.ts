import { defineConfig } from 'vite';
import { oneFile } from './build/one_file.ts';

export default defineConfig({
  plugins: [oneFile()],
  build: {
    target: ['chrome123', 'firefox121', 'safari17.5'],
    outDir: process.env.CAPGATE_PAGE_FOLDER ?? 'dist',
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: { output: { format: 'iife' } },
  },
});
