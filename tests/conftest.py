"""Settings of all tests."""

from hypothesis import HealthCheck, settings

from hybridmux.proc.signals import heed_ignored

# The speed of a loaded machine is no property of the code.
settings.register_profile("hybridmux", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hybridmux")

# As the server does: what a test starts has the signals of a new login, though the tests run under `nohup`.
heed_ignored()
