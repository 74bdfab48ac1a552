// Types as Python annotations write them.
#pragma once

#include "hotaru/script/source/ast.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class CompilationUnit;
class Resolver;

/// The type that an annotation names: int, Optional[Tensor], List[...],
/// Dict[...], Tuple[...], Union, `X | None`, Future[...], classes by qualified
/// name or as the resolver says, and strings that hold any of these. Throws
/// ScriptError for what is no type.
TypePtr read_type(CompilationUnit& unit, const Resolver& resolver,
                  const Expr& annotation);

}  // namespace hotaru::script
