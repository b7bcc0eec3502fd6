# cmake -DREADME=<file> -DEXAMPLE=<file> -P compare_example.cmake
file(READ "${README}" readme)
file(READ "${EXAMPLE}" example)
string(FIND "${readme}" "```cpp\n${example}```\n" position)
if(position EQUAL -1)
  message(FATAL_ERROR "no ```cpp block of ${README} is exactly ${EXAMPLE}")
endif()
