// A row's compressed entries in pages: memory follows the tokens that a row has. Which page is where is
// device data, so that rows come and go under one graph.
#pragma once

namespace dsv4::kernels {

// Entry w of a row lies at place w % per_page of page table[row, w / per_page].
struct Pages {
  const int* table = nullptr;  // [rows, stride]; null: a row's entries lie in one piece, page `row`
  int stride = 0;
  int per_page = 0;  // entries
};

}  // namespace dsv4::kernels
