#pragma once

#include "c10/util/StringUtil.h"
