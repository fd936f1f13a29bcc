"""Which reader takes which format of pair lists."""

from frkit.scores import pair_lists, pair_tables

PAIR_FORMATS = {
    "rfw": pair_lists.read_rfw,
    "lfw": pair_lists.read_lfw,
    "bfw": pair_tables.read_bfw,
    "bob4": pair_lists.read_bob4,
    "bob5": pair_lists.read_bob5,
    "bob-csv": pair_tables.read_bob_csv,
    "voxceleb": pair_lists.read_voxceleb,
    "kaldi": pair_lists.read_kaldi,
    "ijbc": pair_lists.read_ijbc,
    "columns": pair_tables.read_mapped,
    "vectors": pair_lists.read_vectors,
}
