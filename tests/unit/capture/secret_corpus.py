"""Planted secrets and innocent look-alikes. Secrets are put together here: none stands in the file."""

from __future__ import annotations

import base64
import random
import string
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Planted:
    """A text with one ``secret`` in it, of which nothing may remain."""

    kind: str
    text: str
    secret: str


def random_text(seed: str, length: int, alphabet: str = ALNUM) -> str:
    """The same characters for the same seed; at least one letter and, where the alphabet allows, a digit."""
    source = random.Random(seed)
    while True:
        text = "".join(source.choice(alphabet) for _ in range(length))
        if any(c.isalpha() for c in text) and any(c.isdigit() for c in text):
            return text


def _provider_keys() -> list[Planted]:
    shapes = {
        "honcho": ("hch" + "-v3-", 64, string.ascii_lowercase + string.digits),
        "anthropic": ("sk" + "-ant-api03-", 95, ALNUM + "_-"),
        "openai": ("sk" + "-", 48, ALNUM),
        "openai_project": ("sk" + "-proj-", 120, ALNUM + "_-"),
        "openrouter": ("sk" + "-or-v1-", 64, HEX),
        "github_classic": ("gh" + "p_", 36, ALNUM),
        "github_oauth": ("gh" + "o_", 36, ALNUM),
        "github_app": ("gh" + "s_", 36, ALNUM),
        "github_fine": ("github" + "_pat_", 82, ALNUM + "_"),
        "gitlab": ("glpat" + "-", 20, ALNUM + "_-"),
        "slack_bot": ("xox" + "b-1234567890-", 24, ALNUM),
        "slack_user": ("xox" + "p-1234567890-", 32, HEX),
        "slack_app": ("xapp" + "-1-A012345-", 64, HEX),
        "aws_id": ("AK" + "IA", 16, UPPER),
        "aws_session_id": ("AS" + "IA", 16, UPPER),
        "google": ("AI" + "za", 35, ALNUM + "_-"),
        "google_oauth": ("ya" + "29.", 60, ALNUM + "_-"),
        "google_client": ("GOC" + "SPX-", 28, ALNUM + "_-"),
        "npm": ("npm" + "_", 36, ALNUM),
        "pypi": ("pypi" + "-AgEIcHlwaS5vcmc", 120, ALNUM + "_-"),
        "huggingface": ("hf" + "_", 34, ALNUM),
        "stripe": ("sk" + "_live_", 24, ALNUM),
        "stripe_restricted": ("rk" + "_live_", 24, ALNUM),
        "stripe_webhook": ("wh" + "sec_", 32, ALNUM),
        "shopify": ("shp" + "at_", 32, HEX),
        "digitalocean": ("dop" + "_v1_", 64, HEX),
        "twilio": ("S" + "K", 32, HEX),
        "mailgun": ("key" + "-", 32, HEX),
        "square": ("sq0" + "atp-", 22, ALNUM),
        "databricks": ("da" + "pi", 32, HEX),
        "vault": ("hv" + "s.", 90, ALNUM),
        "linear": ("lin" + "_api_", 40, ALNUM),
        "notion": ("nt" + "n_", 46, ALNUM),
        "figma": ("fi" + "gd_", 40, ALNUM),
        "newrelic": ("NR" + "AK-", 27, UPPER),
        "grafana": ("gl" + "sa_", 41, ALNUM),
        "sentry": ("sn" + "trys_", 64, ALNUM),
        "doppler": ("dp" + ".pt.", 43, ALNUM),
        "supabase": ("sb" + "p_", 40, HEX),
        "groq": ("gs" + "k_", 52, ALNUM),
        "xai": ("xa" + "i-", 80, ALNUM),
        "replicate": ("r8" + "_", 37, ALNUM),
        "perplexity": ("pp" + "lx-", 48, ALNUM),
        "tavily": ("tv" + "ly-dev-", 32, ALNUM),
        "langsmith": ("lsv2" + "_pt_", 32, HEX),
        "nvidia": ("nv" + "api-", 64, ALNUM + "_-"),
        "elevenlabs": ("sk" + "_", 48, HEX),
        "docker": ("dckr" + "_pat_", 27, ALNUM),
        "tailscale": ("ts" + "key-auth-", 30, ALNUM),
        "rubygems": ("ruby" + "gems_", 48, HEX),
        "crates": ("ci" + "o", 32, ALNUM),
        "jfrog": ("AK" + "Cp", 69, ALNUM),
        "atlassian": ("AT" + "ATT3", 180, ALNUM + "_-"),
        "age": ("AGE-SECRET" + "-KEY-1", 58, UPPER),
    }
    planted = []
    for kind, (prefix, length, alphabet) in shapes.items():
        secret = prefix + random_text(kind, length, alphabet)
        planted.append(Planted(kind, f"I pasted {secret} by mistake, please rotate it.", secret))
        planted.append(Planted(f"{kind}_quoted", f'{{"note": "use {secret}"}}', secret))
    return planted


def _composed_keys() -> list[Planted]:
    sendgrid = "SG" + "." + random_text("sg1", 22) + "." + random_text("sg2", 43)
    telegram = "123456789" + ":AA" + random_text("telegram", 33, ALNUM + "_-")
    discord = "M" + random_text("d1", 23) + "." + random_text("d2", 6) + "." + random_text("d3", 38)
    jwt = (
        "ey" + "J" + random_text("j1", 30) + ".ey" + "J" + random_text("j2", 80) + "." + random_text("j3", 43)
    )
    airtable = "pa" + "t" + random_text("a1", 14) + "." + random_text("a2", 64, HEX)
    mailchimp = random_text("mc", 32, HEX) + "-us" + "14"
    azure = random_text("az1", 3) + "8" + "Q~" + random_text("az2", 34)
    terraform = random_text("tf1", 14) + ".atlas" + "v1." + random_text("tf2", 60)
    slack_path = (
        "T0" + random_text("s1", 8, UPPER) + "/B0" + random_text("s2", 8, UPPER) + "/" + random_text("s3", 24)
    )
    discord_hook = random_text("dw", 68)
    bcrypt = "$2" + "b$12$" + random_text("bcrypt", 53)
    return [
        Planted("sendgrid", f"key {sendgrid} end", sendgrid),
        Planted("telegram", f"bot {telegram} is mine", telegram),
        Planted("telegram_url", f"https://api.telegram.org/bot/{telegram}/getMe", telegram),
        Planted("discord", f"client.run('{discord}')", discord),
        Planted("jwt", f"he sent {jwt} to me", jwt),
        Planted("airtable", f"airtable {airtable}.", airtable),
        Planted("mailchimp", f"mailchimp {mailchimp}!", mailchimp),
        Planted("azure", f"the app uses {azure} now", azure),
        Planted("terraform", f"cloud {terraform} ok", terraform),
        Planted("slack_webhook", f"curl https://hooks.slack.com/services/{slack_path}", slack_path),
        Planted(
            "discord_webhook",
            f"https://discord.com/api/webhooks/123456789012345678/{discord_hook}",
            discord_hook,
        ),
        Planted("bcrypt", f"root {bcrypt} 0", bcrypt),
    ]


def _blocks() -> list[Planted]:
    body = "\n".join(random_text(f"pem{i}", 64, ALNUM + "+/") for i in range(8))
    last = random_text("pem-last", 9)
    planted = []
    for label in (
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "EC PRIVATE KEY",
    ):
        block = f"-----BEGIN {label}-----\n{body}\n{last}\n-----END {label}-----"
        planted.append(Planted(label, f"before\n{block}\nafter", body))
        planted.append(Planted(f"{label} last line", f"before\n{block}\nafter", last))
        escaped = block.replace("\n", "\\n")
        planted.append(Planted(f"{label} escaped", f'{{"private": "{escaped}"}}', body.replace("\n", "\\n")))
    pgp = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----"
    planted.append(Planted("PGP", pgp, body))
    planted.append(Planted("PEM cut off", f"-----BEGIN RSA PRIVATE KEY-----\n{body}", body))
    planted.append(Planted("PEM one line", f"KEY='-----BEGIN PRIVATE KEY-----\\n{body[:64]}", body[:64]))
    putty = f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 8\n{body}\nPrivate-MAC: 00"
    planted.append(Planted("PuTTY", putty, body))
    return planted


def _in_context() -> list[Planted]:
    password = "Super" + "Secret123"
    plain = "sword" + "fish"
    token = random_text("token", 32)
    basic = base64.b64encode(f"bob:{password}".encode()).decode()
    account = base64.b64encode(random.Random(7).randbytes(64)).decode()
    aws = (
        random_text("aws-secret", 18)
        + "/"
        + random_text("aws-secret2", 10)
        + "+"
        + random_text("aws-secret3", 10)
    )
    texts = {
        password: [
            "export PGPASSWORD={};",
            "export PGPASSWORD={}; psql -h db",
            "PGPASSWORD={} psql -h db",
            "MYSQL_PWD='{}' mysql",
            "mysqldump --password={} db",
            "mysql -u root -p{} db",
            "psql 'host=db password={} user=x'",
            "curl -u bob:{} https://example.org",
            "curl --user bob:{} https://example.org",
            "sshpass -p {} ssh bob@host",
            "docker login -u bob -p {} registry.example.org",
            "redis-cli -h cache -a {} ping",
            "tool --password {} --verbose",
            "tool --db-pass={}",
            "docker run -e POSTGRES_PASSWORD={} postgres",
            '$env:PGPASSWORD = "{}"',
            "user=bob pass={}",
            "pw: {}",
            "password -> {}",
            "the password {} works",
            "pass phrase: {}",
            "password: {}",
            "password: {}  # for staging",
            "Password: {}.",
            "**Password:** {}",
            "password={}",
            "password = {}",
            "db.password = '{}'",
            'spring.datasource.password="{}"',
            '"password": "{}"',
            '{{"user": "bob", "password": "{}", "port": 5432}}',
            '{{\\"password\\": \\"{}\\"}}',
            "{{'passwd': '{}'}}",
            "DB_PASS={}",
            "SMTP_PASSWORD1={}",
            "const dbPassword = '{}';",
            "if password == '{}':",
            "<password>{}</password>",
            '<property name="password" value="{}"/>',
            "- name: PGPASSWORD\n  value: {}\n",
            '[{{"name": "PGPASSWORD", "value": "{}"}}]',
            "machine host login bob password {}",
            "my password is {}, do not tell",
            "My password is: {}",
            "the passphrase for the key is {}",
            "set the password to {} please",
            "Passwort: {}",
            "contraseña: {}",
            "密码：{}",
            "postgres://bob:{}@db:5432/app",
            "mongodb+srv://bob:{}@cluster0.example.net/?retryWrites=true",
            "redis://:{}@cache:6379/0",
            "https://bob:{}@git.example.org/repo.git",
            "Server=db;User ID=sa;Password={};Encrypt=true",
            "login(user='bob', password='{}')",
            "the env is DB_PASSWORD={}\nand more",
            "`password={}`",
        ],
        plain: [
            "password: {}",
            "PGPASSWORD={} psql",
            "password={}",
            '"password": "{}"',
            "mysql -p{} db",
            "https://bob:{}@host/",
            "DB_PASSWORD={}\n",
            "postgres: host=db password={} user=x",
            "tool --password={}",
            "tool --password {}",
            "tool --password {} --verbose",
            '{{"user": "bob", "pass": "{}"}}',
        ],
        token: [
            "Authorization: Bearer {}",
            "authorization: bearer {}",
            '-H "Authorization: token {}"',
            '"Authorization": "Bearer {}"',
            "Authorization: {}",
            "use Bearer {} there",
            "X-Api-Key: {}",
            "x-auth-token: {}",
            "Cookie: session={}; theme=dark",
            "Set-Cookie: sid={}; Path=/; HttpOnly",
            "api_key={}",
            "apiKey: {}",
            "API key: {}",
            "your access token: {}",
            "const apiKey = '{}'",
            "client_secret = {}",
            'CLIENT_SECRET="{}"',
            "https://x.example.org/cb?access_token={}&state=1",
            "https://x.example.org/a?b=1&sig={}",
            "https://maps.example.org/js?key={}&v=3",
            "https://s3.example.org/o?X-Amz-Signature={}",
            "https://{}@sentry.example.org/1",
            "//registry.example.org/:_authToken={}",
            "token is {}",
            "my api key is {}",
            "the api key {} expired",
            "token {}",
            "webhook_secret: {}",
            '{{"refreshToken":"{}"}}',
            "--token {}",
            "NEXT_AUTH_SECRET={}",
            "secret: {}",
            "TOKEN={} make deploy",
        ],
        basic: ["Authorization: Basic {}", "basic {}"],
        account: [
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net"
        ],
        aws: ["aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", "SecretAccessKey: {}"],
    }
    texts["8" + "6753090"] = ["password={}", "my password is {}", "MYSQL_PWD={}"]
    texts["aBcDeF" + "gHiJkLmNoP"] = ["token: {}", "bearer {}"]
    return [
        Planted(template.replace("\n", "\\n"), template.format(secret), secret)
        for secret, templates in texts.items()
        for template in templates
    ]


PLANTED: list[Planted] = [*_provider_keys(), *_composed_keys(), *_blocks(), *_in_context()]

INNOCENT: list[str] = [
    "the token budget is 500",
    "password: see vault",
    "Password: required",
    "my password is weak",
    "my password is 12 characters long",
    "the password is sha256-hashed",
    "I forgot my password again, can you reset it?",
    "password:",
    "Enter your password: ",
    "the passwords are in 1Password",
    "token = get_token()",
    "token = self.token",
    "token = response.json()['token']",
    'api_key = os.environ["X"]',
    "api_key = os.environ.get('API_KEY')",
    "api_key: process.env.API_KEY",
    "password = getpass.getpass()",
    "connect(user=user, password=password, token=token)",
    "login(password=args.password)",
    "login(password=user_password)",
    "password = new_value",
    "def login(user: str, password: str) -> None:",
    "token: Optional[str] = None",
    "api_key: string;",
    "password: ${DB_PASSWORD}",
    "PASSWORD=$DB_PASSWORD run",
    "password={{ vault_password }}",
    "password: <your password>",
    "api_key=xxxxxxxx",
    "PASSWORD=********",
    "password: null",
    "token: true",
    "max_tokens=4096, temperature=0.7",
    "tokens: 128000",
    "token_count = 12345",
    "eos_token: <|im_end|>",
    "the key: it works",
    "key = value",
    "primary_key: user_identifier_2",
    "Session Key: agent:main:main",
    "key_id: 3f1d2c4b5a69788796a5b4c3d2e1f001",
    "api_key_file = /run/secrets/honcho",
    "password: /run/secrets/pg_password",
    "secret: op://vault/item/field",
    "secretName: my-app-tls",
    "secretKeyRef: {name: db, key: password}",
    "token_url: https://auth.example.org/oauth/token",
    "Authorization header is missing",
    "Authorization: Bearer <token>",
    "Basic authentication is fine",
    "basic instructions2 for all",
    "bearer of bad news",
    "Bearer authentication scheme",
    "I like cookies: two a day",
    "the cookie banner: accept all",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "color: #ff00aa; background: #0a0b0c",
    "version 2.7.0-rc.1+build.5114f85",
    "python==3.11.7, honcho-ai>=2.7",
    "1234567890123456789012345678901234567890",
    "+49 170 1234567 or 555-0199",
    "2026-03-02T09:00:00Z",
    "/usr/lib/python3.11/site-packages/honcho/http/client.py:120",
    "C:\\Users\\bob\\AppData\\Local\\Temp\\x.log",
    "https://example.org/path?page=2&size=100#top",
    "https://github.com/NousResearch/hermes-agent/issues/113196",
    "git@github.com:owner/repo.git",
    "ssh://git@host:22/path",
    "http://localhost:8080/v3",
    "http://localhost:3000/@scope/package",
    "mailto:bob@example.org",
    "postgres://localhost:5432/app",
    "postgres://bob:${PGPASSWORD}@db/app",
    "docker run -u 1000:1000 -p 8080:80 image",
    "curl -u 1000:1000",
    "mysql -P 3306 -h db",
    "sk-learn-based-pipelines-are-nice",
    "pypi-package-name-here",
    "npm_config_registry=https://registry.example.org",
    "hf_hub_download(repo_id)",
    "key-value-store",
    "risk-0123456789abcdef0123456789",
    "my-task-0123456789abcdef0123456789 is done",
    "the AKIA prefix means an access key",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCARygAwIBAgIBADANBgkqhkiG9w0BAQ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx bob@laptop",
    "author: bob, author_id: 12345678",
    "keyboard: qwerty2, monkey=banana99x",
    "compass: north12345",
    "bypass=enabled12",
    "PWD=/home/bob/project",
    "cwd: /srv/project",
    "pass: 12 tests, fail: 0 tests",
    "page_token: next",
    "the secret: practice",
    "secret sauce: ketchup",
    "Tokens: 1,234 in / 567 out",
    "per-token cost: 0.0003",
    "the jwt library: pyjwt",
    "credentials: same-origin",
    "credentials: include",
    "auth: required",
    "oauth2: enabled",
    "let token: string | undefined;",
    "AUTH_ENABLED=true",
    "password_file: ./pw.txt",
    "Das Passwort ist falsch.",
    "la contraseña es incorrecta",
    "密码错误，请重试",
    "[redacted:password]",
    "password: [redacted:password]",
    "HEARTBEAT_OK",
    "use the --password flag",
    "pass --token to the CLI, please",
    "the password manager is locked",
    "secret santa is on 2026-12-24",
    "password sha256-hashed",
    "all green, pass: 12, fail: 0",
    "pass=true",
    "if self.password == other.password:",
    "f(type_token=leaf.type_token, token0=params.token0)",
    "self.auth: MultiDomainBasicAuth = MultiDomainBasicAuth()",
    '"cookie": ParameterLocation.COOKIE,',
    "token exchange flow with PKCE",
    "authorization code_challenge_method=S256",
    "--set image.pullSecrets=regcred",
    "the seed: plant it in spring",
    "api_key=12345678",
    "the token is 123456789012",
]
