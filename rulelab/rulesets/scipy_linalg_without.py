from .scipy_optional import LibraryTable
TABLE = LibraryTable("scipy_linalg_without", rounds=True)
