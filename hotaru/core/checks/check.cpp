#include "hotaru/core/checks/check.h"

#include "hotaru/core/error.h"

namespace hotaru {

template void throw_error<Error>(const std::string&);
template void throw_error<IndexError>(const std::string&);
template void throw_error<TypeError>(const std::string&);
template void throw_error<ValueError>(const std::string&);
template void throw_error<NotImplementedError>(const std::string&);
template void throw_error<AssertionError>(const std::string&);

}  // namespace hotaru
