"""The worker: who holds the port, whether it answers, whether it is of this version."""

import socket
import time

from worker.cli.checks.finding import FAIL, OK, WARN, Case, Finding
from worker.contract import advice, calls
from worker.contract.errors import Conflict, MemError, TimedOut, Unauthorized
from worker.contract.quick import QuickClient
from worker.contract.settings import dialled, is_loopback
from worker.contract.version import __version__

_ANSWER_S = 5.0
_SHORT_TOKEN = 16
_RESTART = "`claude-mem worker restart`"


def access(case: Case) -> Finding:
    """Who may ask the worker."""
    host, token = case.settings.host, case.settings.token
    alone = is_loopback(host) and dialled(host) == host  # one that listens everywhere is dialled on loopback too
    if not alone and not token:
        what = "set CLAUDE_MEM_API_TOKEN, or CLAUDE_MEM_WORKER_HOST to 127.0.0.1"
        return Finding("access", FAIL, f"{host} is reached by other machines and there is no token", what)
    if token and len(token) < _SHORT_TOKEN:
        what = "`python3 -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one"
        return Finding("access", WARN, "CLAUDE_MEM_API_TOKEN is short enough to be guessed", what)
    who = "programs of this machine" if alone else "other machines too"
    return Finding("access", OK, f"{who}, {'with the token' if token else 'without a token'}")


def port(case: Case) -> Finding:
    """Who listens where the worker should."""
    number = case.settings.port
    match case.problem:
        case None if case.health is None:
            return _unheld(case)
        case None:
            return Finding("port", OK, f"{number} is held by our worker")
        case TimedOut():
            return Finding("port", FAIL, case.problem.message.partition("; ")[0], _RESTART)
        case Unauthorized():
            return Finding("port", FAIL, case.problem.message, "set CLAUDE_MEM_API_TOKEN to what the worker has")
        case Conflict():
            message, _, what = case.problem.message.partition("; ")
            return Finding("port", FAIL, message, what or "set CLAUDE_MEM_WORKER_PORT to a free port")
        case _:
            return Finding("port", FAIL, case.problem.message, _RESTART)


def _unheld(case: Case) -> Finding:
    """Whether a worker could listen where nobody does: a connection that another program has, or had a minute ago, may
    keep the port."""
    host, number = case.settings.host, case.settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the worker has it
            probe.bind((host, number))
    except OSError as error:
        message = f"nobody listens on {host}:{number}, and yet it cannot be had: {error.strerror or error}"
        return Finding("port", FAIL, message, "wait a minute, or set CLAUDE_MEM_WORKER_PORT to a free port")
    return Finding("port", OK, f"{number} is free")


def running(case: Case) -> Finding:
    """The worker's process."""
    if case.health is None:
        return _nobody(case, "running")
    if not case.health.initialized:
        return Finding("running", WARN, f"pid {case.health.pid} is still opening its database", "wait a moment")
    return Finding("running", OK, f"pid {case.health.pid}, for {round(case.health.uptime)} s")


def version(case: Case) -> Finding:
    """Whether worker and program are of one version."""
    if case.health is None:
        return _nobody(case, "version")
    try:
        theirs = _client(case).send(calls.version(), timeout_s=_ANSWER_S).version
    except MemError as error:
        return Finding("version", FAIL, error.message, _RESTART)
    if theirs != __version__:
        return Finding("version", WARN, f"the worker is {theirs}, this program {__version__}", _RESTART)
    return Finding("version", OK, f"worker and program are {theirs}")


def reachable(case: Case) -> Finding:
    """How long an answer takes."""
    if case.health is None:
        return _nobody(case, "reachable")
    began = time.monotonic()
    try:
        _client(case).send(calls.stats(), timeout_s=_ANSWER_S)
    except MemError as error:
        return Finding("reachable", FAIL, error.message, "`claude-mem worker logs` tells more")
    took_ms = round((time.monotonic() - began) * 1000)
    return Finding("reachable", OK, f"{case.settings.url} answers in {took_ms} ms")


def stream(case: Case) -> Finding:
    """Whether live events come."""
    if case.health is None:
        return _nobody(case, "stream")
    try:
        heard = _client(case).hears(calls.STREAM, b'"connected"', timeout_s=_ANSWER_S)
    except MemError as error:
        return Finding("stream", FAIL, error.message, _RESTART)
    if not heard:
        return Finding("stream", FAIL, "the live stream opens and says nothing", _RESTART)
    return Finding("stream", OK, "live events come")


def observing(case: Case) -> Finding:
    """Whether what agents do becomes memories: who makes them, and why not, where it is so."""
    if case.health is None:
        return _nobody(case, "observer")
    try:
        status = _client(case).send(calls.processing(), timeout_s=_ANSWER_S)
    except MemError as error:
        return Finding("observer", FAIL, error.message, _RESTART)
    told = advice.observer(status)
    if status.state != "paused":
        return Finding("observer", told.state, told.message, told.advice and advice.LOGS)
    return Finding("observer", told.state, f"{status.provider}, {told.message}", told.advice)


def _client(case: Case) -> QuickClient:
    return QuickClient(case.settings.host, case.settings.port, token=case.settings.credential)


def _nobody(case: Case, name: str) -> Finding:
    return Finding(name, WARN, "no worker of ours answers", case.way_to_a_worker)
