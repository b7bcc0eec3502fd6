#include <arrow/record_batch.h>
#include <arrakis/arrow.hpp>
#include <iostream>

int main() {
  const auto batch = arrakis::to_column_batch(arrakis::SeriesBlock());
  std::cout << batch->num_rows() << " row\n";
}
