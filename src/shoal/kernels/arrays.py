"""The array types that kernels take, named once."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Ints = NDArray[np.int32]
LongInts = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
