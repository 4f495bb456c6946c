"""Keys and tokens of known providers, by their prefixes.

Every pattern is linear: no two neighbouring parts can take the same characters.
"""

from __future__ import annotations

from honchod.capture.secret.shape import Prefixed, Shape
from honchod.capture.secret.values import has_random_run


def _long_run(value: str) -> bool:
    return has_random_run(value, 12)


PROVIDER_KEYS: tuple[Prefixed | Shape, ...] = (
    Prefixed("honcho_key", ("hch-",), r"[A-Za-z0-9_-]{12,}"),
    Prefixed("honcho_key", ("hch_",), r"[A-Za-z0-9_-]{16,}", _long_run),
    Prefixed("anthropic_key", ("sk-ant-",), r"[A-Za-z0-9_-]{8,}"),
    Prefixed("openrouter_key", ("sk-or-v1-",), r"[A-Za-z0-9]{16,}"),
    Prefixed("openai_key", ("sk-",), r"[A-Za-z0-9_-]{16,}", _long_run),
    Prefixed("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{20,}"),
    Prefixed("github_token", ("github_pat_",), r"[A-Za-z0-9_]{20,}"),
    Prefixed(
        "gitlab_token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-"),
        r"[A-Za-z0-9_.-]{16,}",
    ),
    Prefixed(
        "slack_token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xoxe.xox"),
        r"[A-Za-z0-9-]{10,}",
    ),
    Prefixed("aws_key_id", ("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Prefixed("google_key", ("AIza",), r"[A-Za-z0-9_-]{30,}"),
    Prefixed("google_token", ("ya29.", "GOCSPX-"), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("google_token", ("1//0",), r"[A-Za-z0-9_-]{30,}"),
    Prefixed("npm_token", ("npm_",), r"[A-Za-z0-9]{30,}"),
    Prefixed("pypi_token", ("pypi-",), r"[A-Za-z0-9_-]{16,}", _long_run),
    Prefixed("huggingface_token", ("hf_", "api_org_"), r"[A-Za-z0-9]{20,}"),
    Prefixed("sendgrid_key", ("SG.",), r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Prefixed("stripe_key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{10,}"),
    Prefixed("stripe_key", ("whsec_",), r"[A-Za-z0-9+/=]{16,}"),
    Prefixed("shopify_token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[A-Fa-f0-9]{16,}"),
    Prefixed("digitalocean_token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[a-f0-9]{20,}"),
    Prefixed("twilio_key", ("SK",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    Prefixed("mailgun_key", ("key-",), r"[0-9a-z]{32}(?![A-Za-z0-9])"),
    Shape("mailchimp_key", ("-us",), r"(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    Prefixed("square_token", ("sq0atp-", "sq0csp-", "sq0idp-"), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("databricks_token", ("dapi",), r"[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    Prefixed("vault_token", ("hvs.", "hvb.", "hvr."), r"[A-Za-z0-9_-]{20,}"),
    Shape(
        "terraform_token", (".atlasv1.",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"
    ),
    Prefixed("linear_key", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{20,}"),
    Prefixed("notion_token", ("ntn_", "secret_"), r"[A-Za-z0-9]{40,}"),
    Prefixed("figma_token", ("figd_",), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("postman_key", ("PMAK-",), r"[A-Fa-f0-9]{20,}-[A-Fa-f0-9]{20,}"),
    Prefixed("newrelic_key", ("NRAK-",), r"[A-Z0-9]{20,}"),
    Prefixed("grafana_token", ("glsa_", "glc_"), r"[A-Za-z0-9_=+/]{32,}"),
    Prefixed("sentry_token", ("sntrys_", "sntryu_"), r"[A-Za-z0-9_=+/-]{32,}"),
    Prefixed("doppler_token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), r"[A-Za-z0-9_.-]{32,}"),
    Prefixed("fly_token", ("fm1r_", "fm2_"), r"[A-Za-z0-9+/=_-]{40,}"),
    Prefixed("supabase_token", ("sbp_", "sb_secret_"), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("groq_key", ("gsk_",), r"[A-Za-z0-9]{20,}"),
    Prefixed("xai_key", ("xai-",), r"[A-Za-z0-9]{20,}"),
    Prefixed("replicate_token", ("r8_",), r"[A-Za-z0-9]{30,}"),
    Prefixed("perplexity_key", ("pplx-",), r"[A-Za-z0-9]{20,}"),
    Prefixed("tavily_key", ("tvly-",), r"[A-Za-z0-9_-]{16,}", _long_run),
    Prefixed("pinecone_key", ("pcsk_",), r"[A-Za-z0-9_]{30,}"),
    Prefixed("langsmith_key", ("lsv2_pt_", "lsv2_sk_"), r"[a-f0-9]{20,}(?:_[a-f0-9]{4,})?"),
    Prefixed("nvidia_key", ("nvapi-",), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("elevenlabs_key", ("sk_",), r"[a-f0-9]{40,}"),
    Prefixed("docker_token", ("dckr_pat_", "dckr_oat_"), r"[A-Za-z0-9_-]{20,}"),
    Prefixed("tailscale_key", ("tskey-",), r"[a-z]{2,12}-[A-Za-z0-9-]{12,}"),
    Prefixed("airtable_token", ("pat",), r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    Prefixed("dropbox_token", ("sl.",), r"[A-Za-z0-9_-]{80,}"),
    Prefixed("circleci_token", ("CCIPAT_",), r"[A-Za-z0-9_]{20,}"),
    Prefixed("rubygems_key", ("rubygems_",), r"[a-f0-9]{40,}"),
    Prefixed("crates_token", ("cio",), r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    Prefixed("jfrog_key", ("AKCp",), r"[A-Za-z0-9]{60,}"),
    Prefixed("atlassian_token", ("ATATT3", "ATCTT3", "ATBB"), r"[A-Za-z0-9_=-]{24,}"),
    Prefixed("planetscale_token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[A-Za-z0-9_.=-]{20,}"),
    Prefixed("onepassword_token", ("ops_eyJ",), r"[A-Za-z0-9_-]{40,}"),
    Prefixed("age_key", ("AGE-SECRET-KEY-1",), r"[0-9A-Z]{20,}"),
    Shape("telegram_token", (":AA",), r"(?<![A-Za-z0-9])[0-9]{8,11}:AA[A-Za-z0-9_-]{30,40}"),
    Shape(
        "discord_token",
        (".",),
        r"[MNO](?<![A-Za-z0-9_-][MNO])[A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_-])",
    ),
    Prefixed(
        "slack_webhook",
        ("hooks.slack.com/",),
        r"(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{20,})",
    ),
    Prefixed("discord_webhook", ("/api/webhooks/",), r"[0-9]{10,22}/(?P<secret>[A-Za-z0-9_-]{30,})"),
    Shape("azure_secret", ("Q~",), r"(?<![\w~.-])[\w~.-]{3}[0-9]Q~[\w~.-]{31,40}"),
)
"""Tried in this order; where two overlap, the earlier names the kind."""
