# The public names of shoal.principles: each loads its module when it is first used.

from shoal.principles.disclosure import BetaLikeness as BetaLikeness
from shoal.principles.disclosure import DeltaDisclosure as DeltaDisclosure
from shoal.principles.disclosure import TCloseness as TCloseness
from shoal.principles.dissimilarity import Dissimilarity as Dissimilarity
from shoal.principles.frequency import AlphaK as AlphaK
from shoal.principles.frequency import FrequencyL as FrequencyL
from shoal.principles.frequency import MUniqueness as MUniqueness
from shoal.principles.k_anonymity import DeltaPresence as DeltaPresence
from shoal.principles.k_anonymity import KAnonymity as KAnonymity
from shoal.principles.k_anonymity import KMap as KMap
from shoal.principles.l_diversity import DistinctL as DistinctL
from shoal.principles.l_diversity import EntropyL as EntropyL
from shoal.principles.l_diversity import RecursiveCL as RecursiveCL
from shoal.principles.proximity import DeltaL as DeltaL
from shoal.principles.proximity import EpsilonM as EpsilonM
from shoal.principles.proximity import Neighbourhood as Neighbourhood
from shoal.principles.spread import KE as KE
from shoal.principles.spread import Variance as Variance
from shoal.principles.window import Chain as Chain
from shoal.principles.window import Window as Window
