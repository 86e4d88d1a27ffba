// The commands of dsv4: one function a file, each adds its subcommand to the program.
#pragma once

namespace CLI {
class App;
}

namespace dsv4::cli {

void add_generate(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_random_checkpoint(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_tokenize(CLI::App& app, int& exit_code);
// In builds with CUDA.
void add_trial(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);

}  // namespace dsv4::cli
