/// Support for tests.
