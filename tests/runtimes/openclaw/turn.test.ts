/** Who speaks in which run, and what is said in it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isGroup, isKept, saidAfter, senderOf, speakersOf } from "./turn.ts";

const MAIN = "agent:main:main";
const user = (content: unknown) => ({ role: "user", content });
const agent = (content: unknown) => ({ role: "assistant", content });
const text = (words: string) => [{ type: "text", text: words }];

test("a person asks where nothing says otherwise", () => {
  for (const run of [{}, { trigger: "user" }, { trigger: "manual" }, { inputProvenance: { kind: "external_user" } }]) {
    assert.deepEqual(speakersOf({ sessionKey: MAIN, ...run }), { isHuman: true, answers: "assistant" });
  }
});

test("what another session hands in is no person's, but is answered to one", () => {
  for (const kind of ["inter_session", "internal_system"]) {
    const run = { sessionKey: MAIN, trigger: "user", inputProvenance: { kind } };
    assert.deepEqual(speakersOf(run), { isHuman: false, answers: "assistant" });
  }
});

test("subagents, cron jobs and heartbeats answer for themselves", () => {
  const answers = (run: object) => speakersOf(run).answers;
  assert.equal(answers({ sessionKey: "agent:main:subagent:5f0", trigger: "user" }), "subagent");
  assert.equal(answers({ sessionKey: "agent:main:acp:5f0" }), "subagent");
  assert.equal(answers({ sessionKey: "agent:main:cron:job:run:1", trigger: "cron" }), "cron");
  assert.equal(answers({ sessionKey: MAIN, trigger: "cron" }), "cron");
  assert.equal(answers({ sessionKey: MAIN, trigger: "heartbeat" }), "automation");
});

test("a sender has a name of the platform, the owner at a console has none", () => {
  assert.deepEqual(senderOf({ channel: "telegram", senderId: "4711" }), { runtime_user: "4711" });
  assert.deepEqual(senderOf({ messageProvider: "discord", senderId: "4711" }), { runtime_user: "4711" });
  assert.deepEqual(senderOf({ channel: "webchat", senderId: "gateway-client" }), {});
  assert.deepEqual(senderOf({ channel: "telegram" }), {});
  assert.deepEqual(senderOf({ senderId: "4711" }), {});
});

test("groups and channels hold several people", () => {
  assert.ok(isGroup("agent:main:telegram:group:-100"));
  assert.ok(isGroup("agent:main:discord:channel:7:thread:9"));
  assert.ok(isGroup("agent:main:slack:work:channel:c1"));
  assert.ok(!isGroup("agent:main:telegram:direct:4711"));
  assert.ok(!isGroup(MAIN));
});

test("an incognito session is not kept", () => {
  assert.ok(isKept(MAIN));
  assert.ok(!isKept("agent:main:dashboard:incognito-5f0"));
  assert.ok(!isKept(undefined));
});

test("the last text of the agent is its answer", () => {
  const messages = [
    user("before"),
    agent("Before."),
    user("how are you?"),
    agent([...text("I look."), { type: "toolCall", name: "read" }]),
    { role: "toolResult", content: text("fine") },
    agent(text("Fine.")),
    { role: "custom", content: "a note" },
  ];
  assert.deepEqual(saidAfter("how are you?", messages), [{ role: "assistant", content: "Fine." }]);
});

test("what is added in the middle stands between the answers", () => {
  const messages = [user("one"), agent("I."), user(text("one")), agent("A."), user("two"), agent([]), agent("B.")];
  assert.deepEqual(saidAfter("one", messages), [
    { role: "assistant", content: "A." },
    { role: "user", content: "two" },
    { role: "assistant", content: "B." },
  ]);
});

test("a run that began otherwise ends after the last that was asked", () => {
  assert.deepEqual(saidAfter("one", [user("x"), agent("X."), user("y"), agent("Y.")]), [
    { role: "assistant", content: "Y." },
  ]);
  assert.deepEqual(saidAfter("one", []), []);
});
