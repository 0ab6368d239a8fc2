"""Secrets are masked, the rest of the line stays, and ordinary code is left alone."""

import base64
import importlib
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worker
from worker.contract import masking, secret_shapes
from worker.contract.masking import MASK, masked, masked_under, secrets
from worker.contract.privacy import walked

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
HEX = "0123456789abcdef0123456789abcdef"
SHAPES = [
    f"sk-{LONG}", "sk-ant-api03-abcdefghijkl", f"sk-proj-{LONG}", f"sk_live_{LONG}", f"rk_test_{LONG}", f"whsec_{LONG}",
    f"AIza{LONG}", f"gsk_{LONG}", f"hf_{LONG}", f"SG.{LONG}.{LONG}", "AKIAIOSFODNN7EXAMPLE", f"ghp_{LONG}",
    f"github_pat_{LONG}", f"glpat-{LONG}", f"xoxb-123456789012-{LONG}", f"xapp-1-{LONG}", f"npm_{LONG}",
    f"pypi-Ag{LONG}{LONG}", f"ya29.{LONG}", f"dop_v1_{HEX}", f"shpat_{HEX}", f"dapi{HEX}", f"hvs.{LONG}",
    f"ATATT3{LONG}", f"sbp_{HEX}", f"figd_{LONG}", f"pscale_pw_{LONG}", f"dp.pt.{LONG}", f"NRAK-{LONG.upper()}",
    f"PMAK-{HEX}-{HEX}", f"discord.com/api/webhooks/123456789012345678/{LONG}",
    f"SK{HEX}", f"AC{HEX}", f"key-{HEX}", "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
    f"dckr_pat_{LONG}", f"rubygems_{HEX}{HEX}",
    f"sq0csp-{LONG}", f"HRKU-{LONG}", f"sntrys_{LONG}", f"{LONG[:14]}.atlasv1.{LONG}{LONG}",
    f"{HEX}-us12", f"AAAAabc_12-:APA91b{LONG}{LONG}",
    "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    f"$2y$05${(LONG * 2)[:53]}", f"$$2b$$12$${(LONG * 2)[:53]}", f"$apr1$q1w2e3r4${LONG[:22]}",
    f"$6$rounds=5000$saltsalt${(LONG * 3)[:86]}", "{SHA}" + LONG[:27] + "=",
    f"123456789:AA{LONG}", f"AGE-SECRET-KEY-1{LONG.upper()}", f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{LONG}",
]  # fmt: skip


@pytest.mark.parametrize("secret", SHAPES)
def test_a_well_known_shape_is_one_wherever_it_stands(secret: str) -> None:
    for before, after in (("", ""), ("use ", " here"), ("key=", "&x=1"), ("`", "`"), ('["', '", 2]'), ("(", ").")):
        assert masked(f"{before}{secret}{after}") == f"{before}{MASK}{after}"


@pytest.mark.parametrize(
    "text",
    [
        'getenv("DB_PASSWORD","{}")', "os.getenv('DB_PASSWORD','{}')", 'process.env.DB_PASSWORD||"{}"',
        "env.SECRET??'{}'", 'ENV.fetch("API_KEY","{}")', "<password>{}</password>", "://ann:{}@host",
        "pwd={}",
        'pass it on ' + "x" * 60 + ' credentıal="{}"', 'pass it on ' + "x" * 60 + ' CREDENTİALS : "{}"',
        "pass it on " + "x" * 60 + " ſecret='{}'",
    ],
)  # fmt: skip
def test_what_is_passed_over_sooner_is_never_a_secret(text: str) -> None:
    """Whatever is asked before the patterns are must be in all that they find."""
    assert masked(text.format("hunter2x")) == text.format(MASK)


@pytest.mark.parametrize("kind, literals, pattern", secret_shapes.SHAPES)
def test_no_shape_is_shorter_than_what_is_looked_at_nor_has_a_blank(
    kind: str, literals: tuple[str, ...], pattern: str
) -> None:
    least, _ = importlib.import_module("re._parser").parse(pattern).getwidth()
    assert least >= masking._SHORTEST_SHAPE, kind
    assert not re.search(r"\\s| |\(\?[isx]", pattern), kind


@pytest.mark.parametrize("name", ["password", "API_KEY_PROD", "db.secret", "x-token", "credentials", "my passphrase"])
@pytest.mark.parametrize("op", ["=", ": ", " = ", " := ", " => ", ": str = ", "`]        =        "])
def test_a_name_and_what_it_is_given_are_not_too_far_apart_to_be_seen(name: str, op: str) -> None:
    assert masked(f"{name}{op}'hunter2hunter2'") == f"{name}{op}'{MASK}'"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("export API_TOKEN=tok_test_123", "export API_TOKEN=****"),
        ("API_KEY=abcd ./run --fast", "API_KEY=**** ./run --fast"),
        ('{"password": "hunter2", "user": "ann"}', '{"password": "****", "user": "ann"}'),
        (r'{\"password\": \"hunter2\", \"user\": \"ann\"}', r'{\"password\": \"****\", \"user\": \"ann\"}'),
        ("password: hunter2\nuser: ann", "password: ****\nuser: ann"),
        ("password = 'MyPassword'", "password = '****'"),
        ("SECRET_KEY = b'abcdefghijklm'", "SECRET_KEY = b'****'"),
        ('{"name": "DB_PASSWORD", "value": "hunter"}', '{"name": "DB_PASSWORD", "value": "****"}'),
        (r'{\"key\": \"api-key\", \"value\": \"abcdef\"}', r'{\"key\": \"api-key\", \"value\": \"****\"}'),
        ("- name: DB_PASSWORD\n  value: hunter\n- name: X", "- name: DB_PASSWORD\n  value: ****\n- name: X"),
        ('<add key="Password" value="hunter2"/>', '<add key="Password" value="****"/>'),
        ("create user ann@'%' identified by 'hunter';", "create user ann@'%' identified by '****';"),
        ("Authorization: abc1.def2\nHost: x", "Authorization: ****\nHost: x"),
        ("Authorization: abc123def.456", "Authorization: ****"),
        ("CREATE USER ann IDENTIFIED BY 'hunter';", "CREATE USER ann IDENTIFIED BY '****';"),
        ("ALTER ROLE ann WITH ENCRYPTED PASSWORD 'hunter'", "ALTER ROLE ann WITH ENCRYPTED PASSWORD '****'"),
        ('ConvertTo-SecureString "hunter" -AsPlainText', 'ConvertTo-SecureString "****" -AsPlainText'),
        ("aws configure set aws_secret_access_key wJalrXUtnFE", "aws configure set aws_secret_access_key ****"),
        ("git clone https://abc1def2abc3def4abc5@github.com/x", "git clone https://****@github.com/x"),
        ("curl -uann:hunter2 http://x", "curl -uann:**** http://x"),
        ("echo 'hunter' | sudo -S ls", "echo '****' | sudo -S ls"),
        ("zip -r -P hunter a.zip a; ldapsearch -x -w hunter", "zip -r -P **** a.zip a; ldapsearch -x -w ****"),
        ('os.environ.get("API_KEY", "abcdef")', 'os.environ.get("API_KEY", "****")'),
        ("process.env.JWT_SECRET || 'abcdef'", "process.env.JWT_SECRET || '****'"),
        ("Ocp-Apim-Subscription-Key: 0123456789abcdef", "Ocp-Apim-Subscription-Key: ****"),
        ("password = 'correct'", "password = '****'"),
        ('password: str = "hunter2"', 'password: str = "****"'),
        ('const apiKey: string = "abcd1234";', 'const apiKey: string = "****";'),
        ("config['db_password'] = 'hunter2'", "config['db_password'] = '****'"),
        ("client_secret => 'abc-def'", "client_secret => '****'"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPx", "AWS_SECRET_ACCESS_KEY=****"),
        ("Server=x;User Id=sa;Password=P4ssw0rd;Pooling=1", "Server=x;User Id=sa;Password=****;Pooling=1"),
        ("AccountKey=abcd1234abcd==;Suffix=x", "AccountKey=****;Suffix=x"),
        ("https://x.org/?access_token=abc12345&page=2", "https://x.org/?access_token=****&page=2"),
        ("postgres://ann:s3cr3t@db:5432/shop", "postgres://ann:****@db:5432/shop"),
        ("redis://:pw@[::1]:6379", "redis://:****@[::1]:6379"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer ****"),
        ("-H 'Authorization: Basic dXNlcjpwYXNz' x", "-H 'Authorization: Basic ****' x"),
        ("X-Api-Key: 1234abcd5678", "X-Api-Key: ****"),
        ("curl -u ann:hunter2 http://x", "curl -u ann:**** http://x"),
        ("mysql --password hunter2 -u root", "mysql --password **** -u root"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p**** shop"),
        ("sshpass -p 'hunter2' ssh ann@db", "sshpass -p '****' ssh ann@db"),
        ("docker login -u ann -p hunter2 reg.io", "docker login -u ann -p **** reg.io"),
        ("machine api.x.org login ann password s3cretpw", "machine api.x.org login ann password ****"),
        (f"https://x.org/c?sv=2020&sig={LONG}%3D", "https://x.org/c?sv=2020&sig=****"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = ****"),
        ("  password: cGFzc3dvcmQ=\n  user: YW5u", "  password: ****\n  user: YW5u"),
        ("tool --api-key=abcd1234 go", "tool --api-key=**** go"),
        ("<password>hunter2</password>", "<password>****</password>"),
        ("DB_PASS=hunter2", "DB_PASS=****"),
        ("a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n****\nb"),
        ("a -----BEGIN PRIVATE KEY-----\nMII", "a ****"),
        ("MII\n-----END OPENSSH PRIVATE KEY----- b", "**** b"),
        ("password=" + "a1" * 500 + " b", "password=**** b"),
        (f"ann:$2y$05${(LONG * 2)[:53]}\nbob:$apr1$ab$cd", "ann:****\nbob:$apr1$ab$cd"),
        (f"https://{HEX}@o12.ingest.sentry.io/345", "https://****@o12.ingest.sentry.io/345"),
        (f"SENTRY_DSN=https://{HEX}:{HEX}@sentry.x.org/2", "SENTRY_DSN=https://****@sentry.x.org/2"),
        ("Cookie: sid=abc123; theme=dark\nAccept: */*", "Cookie: ****\nAccept: */*"),
        ("curl -H 'cookie: PHPSESSID=298zf09hf012fh2; a=b' x", "curl -H 'cookie: ****' x"),
        ("curl --cookie 'login=opensesame' x", "curl --cookie '****' x"),
        ("Set-Cookie: sid=abc123def; Path=/; HttpOnly", "Set-Cookie: sid=****; Path=/; HttpOnly"),
        ('{"auths": {"reg.io": {"auth": "YW5uOmh1bnRlcjI="}}}', '{"auths": {"reg.io": {"auth": "****"}}}'),
        ("//reg.io/:_auth=YW5uOmh1bnRlcjI=\nx", "//reg.io/:_auth=****\nx"),
        ("The password is hunter2.", "The password is ****."),
        ("the password for the test database is now: hunter2, x", "the password for the test database is now: ****, x"),
        ("my password is 'swordfish', thanks", "my password is '****', thanks"),
        ("the passphrase is p@ssword and", "the passphrase is **** and"),
        ("foo and password=Sup3rSecret1", "foo and password=****"),
        ("token=Sup3rSecretPassw0rd", "token=****"),
        ("Password is Password123!", "Password is ****"),
        ("the password is 482915", "the password is ****"),
        ("the api key is 7f3kd93jfk2", "the api key is ****"),
        ("log in with user: ann password: swordfish", "log in with user: ann password: ****"),
        ("username: ann\npassword: swordfish\nport: 1", "username: ann\npassword: ****\nport: 1"),
        ("Password: swordfish", "Password: ****"),
        ("Set-Cookie: token=eyabc; HttpOnly", "Set-Cookie: token=****; HttpOnly"),
        ("set-cookie: __Secure-x=abc.def.ghi; Path=/", "set-cookie: __Secure-x=****; Path=/"),
        ("curl -sb 'a' -b 'session=abcdef123' http://x", "curl -sb 'a' -b '****' http://x"),
        ("redis-cli -h db -a swordfish ping", "redis-cli -h db -a **** ping"),
        ("openssl rsa -passin pass:swordfish -in k", "openssl rsa -passin pass:**** -in k"),
        ("tool --db-password=swordfish --x", "tool --db-password=**** --x"),
        ("host=db user=ann password=swordfish dbname=shop", "host=db user=ann password=**** dbname=shop"),
        ("vault kv put secret/x password=swordfish", "vault kv put secret/x password=****"),
        ("  db_password: swordfish\n  port: 1", "  db_password: ****\n  port: 1"),
        ("- password: correct-horse-battery-staple.\n", "- password: ****.\n"),
        ("Password=Password123;x=1", "Password=****;x=1"),
        ("export db_password=swordfish", "export db_password=****"),
        ("cd x; export token=swordfish && run", "cd x; export token=**** && run"),
        ("spring.datasource.password=swordfish\na=b", "spring.datasource.password=****\na=b"),
        ("      - db_password=swordfish", "      - db_password=****"),
        ("set -gx DB_PASSWORD swordfish", "set -gx DB_PASSWORD ****"),
        ("setenv API_KEY swordfish", "setenv API_KEY ****"),
        ("ENV DB_PASSWORD swordfish", "ENV DB_PASSWORD ****"),
        ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\nb", "****\nb"),
        (f"Lines: 1\nAAAA\nPrivate-Lines: 2\nAAAB\nAAAC\nPrivate-MAC: {HEX}{HEX}\nb", "Lines: 1\nAAAA\n****\nb"),
        ("Private-Lines: 14\nAAAB\nAA", "****"),
        (f"AAAC\nPrivate-MAC: {HEX}01234567", "****"),
    ],
)  # fmt: skip
def test_the_value_goes_and_the_rest_of_the_line_stays(text: str, hidden: str) -> None:
    """R154."""
    assert masked(text) == hidden


ORDINARY = [
    "password = getpass()",
    "docker login reg.io && docker run -p 8080:80 web",
    "mysql -u root -p shop; mysqldump --port 3307 shop",
    "api_key: ApiKeyProviderForTheSecondGenerationOfClients2Config.value",
    "password = os.environ['DB_PASSWORD1']",
    "def login(user: str, password: str) -> None:",
    "login(user, password=password2, token=self.token1)",
    "token = tokens[0]",
    "const token = await getToken(1234);",
    'if token == "abc123xyz":',
    "next_token = parser.peek2()",
    'token = "("',
    "API_KEY = config.key2",
    "PASSWORD=$DB_PASSWORD1",
    "password=${{ secrets.DB_PASSWORD_1 }}",
    'API_KEY="<your key 1>"',
    "SECRET_FILE=/run/secrets/one1",
    "PWD=/home/ann/work1",
    "max_tokens = 4096",
    "discovery_tokens: 12345678",
    "token_type: bearer1234",
    "PASS: test-foo2",
    "pass: 12, fail: 0",
    "compass: x1y2z3w4",
    '"password": "Enter your password, 8 characters"',
    '{"type": "string", "token": "string"}',
    "password: 2026-03-04T12:00:00",
    "commit 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "/home/ann/projects/token-service/src/secret_1.py:12: error",
    "class sk-fading-circle-animation { }",
    "https://github.com/ann/shop/pull/12@v2",
    "git@github.com:ann/shop.git",
    "ssh://git@host1:22/x",
    "use Bearer authentication; authorization: required",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "the password is wrong, and the token is expired",
    "The password is stored in the database, the secret is kept elsewhere",
    "the password is base64-encoded; the token is SHA256-hashed",
    "the password is 1024 characters long and the token is 32-byte",
    "the secret is in step-2 of the guide; the token is 'required'",
    "the token is OAuth2, the api key is optional",
    "the source of a token is `args[token.index]`, the password is `settings.password` or 'get(1)'",
    "password = get_password()",
    "password = get_password2(user)",
    "token: str",
    "class Login:\n    user: User\n    password: Hidden\n    token: Token2",
    "login(user=user, password=secret_word)",
    "f(\n    user=user,\n    password=word\n)",
    "username: string\npassword: string\n",
    "Password: required\npassword: at least eight characters",
    "login({\n  email: email,\n  password: hashes\n})",
    "password: passwords_differ",
    "--password=PASSWORD --token=<token> --secret=my-secret --password=$PW",
    "def f(user, password=word, other=1): g(a, password=word)",
    "<input type=password name=password>, connect(host, password=given)",
    "curl -b cookies.txt http://x; redis-cli -a $PW",
    "Set-Cookie: theme=dark; Path=/",
    "UPDATE users SET password=hash WHERE 1",
    "password: rounds of bcrypt\npassword: see below, please",
    "email: required; password: required",
    "Cookie: theme=dark; lang=en",
    "Cookie: the header that tells who asks; cookie: string = read()",
    "Cookie: sid=${SID}",
    "Set-Cookie: sid=<id>; Path=/",
    '{"auth": "disabled", "auth": "c2hvcA==", "author": "YW5uOmh1bnRlcjI="}',
    "python 3.11.4, v13.25.3-rc.1, 1.0.0+20130313144700, node-v20.11.1-linux-x64",
    "task-key-0123456789abcdef, monkey-0123456789abcdef0123456789abcdef",
    "BACK0123456789abcdef0123456789abcdef, RISK0123, MACOS11",
    "9f86d081884c7d659a2feaa0c55ad015-us-east-1",
    "Module.method.NamesThatAreLongButHaveNoSecretInThem.another",
    "https://user@example.org/x, https://0123456789abcdef.example.org/@ann",
    "$2 and $5 for $1$, costs $6$",
    "Private-Lines are lines of private talk; Private-MAC: no",
    f"![x](data:image/png;base64,{base64.b64encode(bytes(range(256)) * 4).decode()})",
    f"sha384-{base64.b64encode(bytes(range(48))).decode()}",
    "secret: my-k8s-secret-1",
    "debug1: sk-ecdsa-sha2-nistp256@openssh.com, sk-ssh-ed25519-cert-v01@openssh.com",
    ".. _`Bearer Token`: https://tools.ietf.org/html/rfc6750",
    "object_level_authorization: SimpleCheckConfig\nauthorization: AuthorizationHeader | None",
    '"token": TEST_DATA_BASE64, password: DEFAULT_PASS_1',
    '"V1Secret": ".models.v1_secret", "secret": "V1SecretProjection"',
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password",
    "- name: API_KEY\n  value: $(KEY1)\n- name: compass\n  value: north1",
    '<input name="password" value="{{ value1 }}">, {"name": "token", "value": "string"}',
    "IDENTIFIED BY '{password}'; with password '%s'",
    "authorization = authorization[1].encode(); authorization = base64.decodebytes(authorization)",
    'commands identified by "code" are conditional; IMAGE_REL_TOKEN = 0x000C, X_CREDENTIALS = 0x02',
    "FOR_OBJECT_ON_TOKEN = P11_FOR_OBJECT | P11_FOR_TOKEN",
    "aws configure set region eu-west-1; configure set api_key $KEY",
    "ssh://a_user_with_a_long_name@host/x, https://0123456789@host",
    'os.environ.get("API_KEY", ""), getenv("TOKEN_FILE", "/run/token"), process.env.API_KEY || undefined',
    "echo $PW | sudo -S ls; zip -r a.zip b; unzip -P",
    "The secret: patience.",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_are_left_alone(text: str) -> None:
    assert masked(text) == text


def test_this_project_has_no_secrets() -> None:
    """Few false alarms: the worker's own code is full of tokens, keys and passwords that are none."""
    found = {
        f"{file.name}: {text[one.start - 40 : one.end]!r}"
        for file in Path(worker.__path__[0]).rglob("*.py")
        for text in [file.read_text("utf-8")]
        for one in secrets(text)
    }
    assert found == set()


def test_keys_tell_what_stands_under_them() -> None:
    value = {
        "password": "hunter2", "auth": {"apiKey": "abcdefgh", "token": "ident", "note": "x"}, "max_tokens": "4096",
        "secrets": ["a"], "passwords": "x", "nested": [{"DB_PASSWORD": "pw12"}],
        "command": "export API_TOKEN=tok_test_123",
        "token": "550e8400-e29b-41d4-a716-446655440000", "n": 1,
        "headers": {"Authorization": "Basic dXNlcjpwYXNz", "Cookie": "sid=abc123", "Accept": "text/html1"},
    }  # fmt: skip
    assert walked(value, masked_under) == value | {
        "password": MASK,
        "auth": {"apiKey": MASK, "token": "ident", "note": "x"},
        "nested": [{"DB_PASSWORD": MASK}],
        "command": "export API_TOKEN=****",
        "token": MASK,
        "headers": {"Authorization": MASK, "Cookie": MASK, "Accept": "text/html1"},
    }


def test_where_secrets_are() -> None:
    text = "a AKIAIOSFODNN7EXAMPLE b password: hunter2 c"
    assert [(one.kind, text[one.start : one.end]) for one in secrets(text)] == [
        ("access key", "AKIAIOSFODNN7EXAMPLE"),
        ("password", "hunter2"),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["password", "token", "api_key", "=", ":", " ", '"', "'", "hunter2", "****", "://", "@", "x", "\\", "\n",
             "Bearer ", "Authorization: ", "sk-ant-", "abcdefgh12", "-----BEGIN PRIVATE KEY-----", "--", "<", ">", "</"]
        ),
        max_size=20,
    ).map("".join)
)  # fmt: skip
def test_masking_again_changes_nothing_and_spans_are_apart(text: str) -> None:
    found = secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= after.start for one, after in zip(found, found[1:], strict=False))
    once = masked(text)
    assert masked(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "password=" * 50_000, 'password="' * 50_000, "password:" + "a" * 500_000, "password" + " " * 500_000,
        "token " * 100_000, "://a:" * 100_000, "eyJ" * 200_000, "sk-" * 200_000, "<password>" * 50_000,
        "-----BEGIN PRIVATE KEY-----" * 20_000, "--password " * 50_000, "_" * 500_000 + "password=x", "-u a:" * 100_000,
        "Cookie: a=b;" * 50_000, "Cookie: " + "a=b;" * 100_000, "Set-Cookie: a=" * 40_000, "auth=" * 100_000,
        "the password is " * 40_000, "the password for " * 40_000, "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ." * 20_000,
        "0123456789abcdef" * 40_000 + "-us", "Private-Lines: 3\nAAAA\n" * 30_000, "user: a password: " * 30_000,
        "a_" * 250_000 + "password=x", "export " * 60_000 + "password", "$2y$05$" * 80_000,
        "ENV " + "A_" * 200_000 + "KEY",
        "https://" + "a" * 400_000 + "@sentry", "M" * 500_000 + ".", "\n- " * 100_000 + "secret",
        "curl -b " * 60_000, "curl " + "a " * 200_000 + "-b", "redis-cli -a" * 40_000, "a password=" * 40_000,
        "--password=" * 40_000, "Set-Cookie: " + "a" * 400_000, "password: a-" * 40_000,
        "\npassword: swordfish" * 20_000 + "}", "password: swordfish" + " " * 400_000,
        "Authorization: " * 50_000, "password: a" * 50_000, "\\\"" * 200_000 + "token",
    ],
)  # fmt: skip
def test_hostile_texts_take_no_longer_than_they_are_long(text: str) -> None:
    began = time.process_time()
    masked(text)
    assert time.process_time() - began < 20, "linear takes less than a second"
