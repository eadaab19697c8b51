#include "tests/core/export/python_run.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace headwise::test {

std::string python_with(const std::string& modules) {
  const char* chosen = std::getenv("HEADWISE_PYTHON");
  for (const std::string& python :
       std::array<std::string, 3>{chosen ? chosen : "", "/usr/bin/python3", "python3"})
    if (!python.empty() && std::system((python + " -c 'import " + modules + "' 2>/dev/null").c_str()) == 0)
      return python;
  return {};
}

std::string run_python_programs(const std::string& python, const std::vector<PythonProgram>& programs,
                                const std::string& folder) {
  const std::string list = folder + "/programs.txt", errors = folder + "/errors.txt",
                    driver = folder + "/all.py";
  std::ofstream files(list);
  for (const PythonProgram& program : programs) files << program.path << '\t' << program.output << '\n';
  files.close();
  std::ofstream(driver) << "import contextlib, io, runpy, sys, warnings\n"
                           "warnings.simplefilter('ignore')\n"
                           "try:  # PyTorch compiles this one's functions, and confuses those of one name\n"
                           "    import torch.nn.attention.flex_attention as flex\n"
                           "    flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True\n"
                           "except ImportError:\n"
                           "    pass\n"
                           "failed = open(sys.argv[2], 'w')\n"
                           "for line in open(sys.argv[1]):\n"
                           "    path, output = line.rstrip('\\n').split('\\t')\n"
                           "    sys.argv = [path, output]\n"
                           "    try:\n"
                           "        with contextlib.redirect_stdout(io.StringIO()) as printed:\n"
                           "            runpy.run_path(path, run_name='__main__')\n"
                           "        open(path + '.txt', 'w').write(printed.getvalue())\n"
                           "    except Exception as error:\n"
                           "        print(path, repr(error), file=failed)\n";
  const std::string command = python + " " + driver + " " + list + " " + errors;
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << std::ifstream(errors).rdbuf();
  if (status != 0) text << "the interpreter ended with " << status << '\n';
  return text.tellp() == std::streampos(0) ? std::string() : text.str();
}

}  // namespace headwise::test
