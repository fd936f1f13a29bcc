"""Make data/bootstrap_laws.nc, the study of Theorems 2 and 3: python data/make_bootstrap_laws.py

The mixture of notebook 2, 400 data sets of 5, 10, 20 and 40 images per identity, ten of them with
400 replicates each, at FAR 1e-3. About ten minutes of CPU time.
"""

import time
from pathlib import Path

import frkit as fk

FILE = Path(__file__).with_name("bootstrap_laws.nc")


def main():
    cpu = time.process_time()
    mixture = fk.vmf.mixture(200, 64, kappa=(40, 150), seed=0)
    laws = fk.studies.error_laws(mixture, seed=0, progress=False)
    laws.attrs |= {
        "command": "python data/make_bootstrap_laws.py",
        "population": "200 identities, dimension 64, concentrations uniform on (40, 150)",
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    packed = {variable: {"dtype": "float32", "zlib": True} for variable in laws.data_vars}
    laws.to_netcdf(FILE, engine="h5netcdf", encoding=packed)
    print(f"{FILE.name}: {laws.attrs['cpu_seconds']} CPU seconds")


if __name__ == "__main__":
    main()
