// Values that the source spells out: defaults and Final attributes.
#pragma once

#include "hotaru/core/value.h"
#include "hotaru/script/source/ast.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class CompilationUnit;

/// The number that an int, float or imaginary literal spells. Throws
/// ScriptError for integers beyond 64 bits.
Value read_number(const Expr& literal);

/// Evaluates literals, lists, tuples, dicts and CONSTANTS.cN, and converts
/// the result to `type` (null: as it is). Throws ScriptError for anything
/// that is not constant or does not have the type.
Value read_constant(CompilationUnit& unit, const Expr& expr, TypePtr type);

/// Converts in place as a call would: int to float or complex, tuple to list,
/// element by element. False when the value cannot have the type.
bool convert_value(Value& value, TypePtr type);

}  // namespace hotaru::script
