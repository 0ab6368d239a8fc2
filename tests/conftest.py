"""What all tests share: properties that are the same on every run, and models that tell nobody of it."""

from hypothesis import HealthCheck, settings

from worker.contract.settings import untold

settings.register_profile(
    "house", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("house")
untold()
