"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# The speed of a loaded machine is no property of the code.
settings.register_profile("hybridmux", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hybridmux")
