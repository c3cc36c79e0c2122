# The public names of shoal.distances: each loads its module when it is first used.

from shoal.distances.composite import Composite as Composite
from shoal.distances.geographic import GreatCircle as GreatCircle
from shoal.distances.hierarchical import Hierarchical as Hierarchical
from shoal.distances.labels import Edit as Edit
from shoal.distances.labels import Equality as Equality
from shoal.distances.labels import Function as Function
from shoal.distances.labels import Lookup as Lookup
from shoal.distances.numeric import Absolute as Absolute
from shoal.distances.numeric import Lp as Lp
from shoal.distances.numeric import SmallestDifference as SmallestDifference
from shoal.distances.numeric import TotalVariation as TotalVariation
