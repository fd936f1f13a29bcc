"""Error rates, fairness and their uncertainty for face recognition and other matching systems.

Start with faces or scores, evaluate them, and ask for intervals:

    import frkit as fk

    faces = fk.demo_faces()  # or fk.open_data(path); fk.look(path) says what is in a file
    scores = fk.score_tensor(faces)  # lazy: nothing is computed yet
    evaluation = fk.evaluate(scores, far=fk.far_levels(1e-4, 1e-2), by="gender")
    roc = fk.band(evaluation, "frr")  # with intervals for new people
    fk.plot.roc(roc)

`fk.report(faces, by="gender")` puts all of this on one page. `fk.band`, `fk.fair_floor`,
`fk.uncertainty` and `fk.compare` take any measure by name (`fk.measures.names()`). Each function's
help has an example that runs; the notebooks teach the methods.
"""

import lazy_loader

__version__ = "0.1.0"

# Public names are listed in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
