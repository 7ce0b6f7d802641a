#!/usr/bin/env python3
"""Plays transcripts through cairn and counts what the next session is told. See README.md."""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import uuid

WINDOW = 600  # characters in which all patterns of a fact must match
BUDGET = 8000  # bytes of a baseline
# Results of calls that the host answered itself or that the user refused: no hook tells of their end.
UNTOLD = re.compile(r"doesn't want to (proceed|take this action)|Request interrupted|Sibling tool call errored|InputValidationError"
                    r"|No such tool|has not been read yet|been modified since read|String to replace not found|matches of the string")
COMMAND = re.compile(r"<command-name>(/[^<]*)</command-name>(?:.*<command-args>([^<]*)</command-args>)?", re.S)


def blocks(message):
    content = (message or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content or [] if isinstance(b, dict)]


def text_of(parts):
    return "\n".join(b.get("text", "") for b in parts if b.get("type") == "text").strip()


class Player:
    """One series in a home of its own."""

    def __init__(self, root, bin_dir, series, budget):
        self.bin, self.series, self.budget = bin_dir, series, budget
        self.home, self.tree = root / f"home-{series}", root / "code" / series
        self.home.mkdir(parents=True)
        self.tree.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.tree)], check=True)
        self.times, self.sessions = {}, []

    def env(self):
        env = {"PATH": f"/usr/bin:/bin:{self.bin}", "HOME": str(self.home), "LANG": "C.UTF-8", "CAIRN_HOME": str(self.home / "cairn")}
        return dict(env, CAIRN_CONTEXT_BUDGET_TOKENS=str(self.budget)) if self.budget else env

    def cairn(self, *args):
        return subprocess.run([f"{self.bin}/cairn", *args], capture_output=True, text=True, env=self.env(), cwd=self.tree).stdout

    def hook(self, event, **fields):
        payload = {"session_id": self.id, "transcript_path": str(self.path), "cwd": str(self.tree), "hook_event_name": event, **fields}
        if self.prompt and event not in ("SessionStart", "SessionEnd"):
            payload["prompt_id"] = self.prompt
        start = time.monotonic()
        done = subprocess.run([f"{self.bin}/cairn-hook", event], input=json.dumps(payload), capture_output=True, text=True,
                              env=dict(self.env(), CLAUDE_PROJECT_DIR=str(self.tree)), cwd=self.tree)
        self.times.setdefault(event, []).append((time.monotonic() - start) * 1000)
        return done.stdout

    def git(self, *args):
        subprocess.run(["git", "-C", str(self.tree), "-c", "user.name=t", "-c", "user.email=t@example.org", *args], capture_output=True)

    def do_again(self, call, told):
        """Edits and commits of the transcript, in the working tree."""
        given, told = call.get("input") or {}, told if isinstance(told, dict) else {}
        if call["name"] == "Bash" and re.search(r"\bgit commit\b", given.get("command", "")):
            self.git("add", "-A")
            self.git("commit", "-qm", "as in the transcript")
        file = pathlib.Path(given.get("file_path") or "/")
        if call["name"] not in ("Write", "Edit") or self.tree not in file.parents:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(told.get("originalFile"), str) and not file.exists():
            file.write_text(told["originalFile"])
            self.git("add", "-f", str(file))
            self.git("commit", "-qm", "as it was", "--", str(file))
        if call["name"] == "Write":
            file.write_text(given.get("content", ""))
        else:
            before = file.read_text() if file.exists() else ""
            file.write_text(before.replace(given.get("old_string", ""), given.get("new_string", ""), 1))

    def begin(self, session):
        self.id, self.prompt = session, ""
        self.path = self.home / "transcripts" / f"{session}.jsonl"
        self.path.parent.mkdir(exist_ok=True)
        try:
            return json.loads(self.hook("SessionStart", source="startup"))["hookSpecificOutput"]["additionalContext"]
        except (ValueError, KeyError):
            return ""

    def end_turn(self):
        """Ends the turn with a Stop, unless it was interrupted or broke off at a tool call."""
        if self.turn:
            self.turn["answer"] = self.last
            self.turns.append(self.turn)
            if self.last and not self.broken:
                self.hook("Stop", last_assistant_message=self.last)
        self.turn, self.last, self.broken = None, "", False

    def user(self, line):
        parts = blocks(line.get("message"))
        results = [b for b in parts if b.get("type") == "tool_result"]
        for result in results:
            call = self.calls.pop(result.get("tool_use_id"), None)
            if not call:
                continue
            self.broken = bool(self.calls)
            if result.get("is_error") and UNTOLD.search(text_of(blocks(result))):
                continue
            told = line.get("toolUseResult")
            fields = {"tool_name": call["name"], "tool_input": call.get("input") or {}, "tool_use_id": call["id"]}
            if result.get("is_error"):
                self.hook("PostToolUseFailure", error=told if isinstance(told, str) else text_of(blocks(result)), **fields)
            else:
                self.do_again(call, told)
                self.hook("PostToolUse", tool_response=told if isinstance(told, dict) else {"result": text_of(blocks(result))}, **fields)
        text = text_of(parts)
        if text.startswith("[Request interrupted"):
            self.broken = True
        if line.get("isCompactSummary"):
            self.hook("PostCompact", trigger="auto", compact_summary=text)
        command = COMMAND.search(text)
        if command:
            text = " ".join(filter(None, command.groups()))
        told_by_host = text.startswith("<local-command") or text.startswith("<bash-") or text.startswith("[Request interrupted")
        if results or not text or line.get("isMeta") or line.get("isCompactSummary") or line.get("isSidechain") or told_by_host:
            return
        self.end_turn()
        self.prompt = line.setdefault("promptId", str(uuid.uuid4()))
        self.turn = {"prompt": text, "answer": ""}
        self.hook("UserPromptSubmit", prompt=text)

    def assistant(self, line):
        if line.get("isSidechain"):
            return
        for block in blocks(line.get("message")):
            if block.get("type") == "text" and block["text"].strip():
                self.last = block["text"].strip()
                self.broken = False
            elif block.get("type") == "tool_use":
                self.broken = True
                self.calls[block["id"]] = block
                self.hook("PreToolUse", tool_name=block["name"], tool_input=block.get("input") or {}, tool_use_id=block["id"])

    def play(self, file):
        rows = [json.loads(row) for row in file.read_text(encoding="utf8").splitlines() if row.strip()]
        session = next((row["sessionId"] for row in rows if row.get("sessionId")), str(uuid.uuid4()))
        given = self.begin(session)
        if self.sessions:
            self.sessions[-1]["context"] = given
        self.turns, self.turn, self.last, self.calls, self.broken = [], None, "", {}, False
        old = next((row["cwd"] for row in rows if row.get("cwd")), "")
        for row in rows:
            if old:
                row = json.loads(json.dumps(row).replace(json.dumps(old)[1:-1], str(self.tree)))
            take = {"user": self.user, "assistant": self.assistant}.get(row.get("type"))
            if take and row.get("sessionId", session) == session:
                if row["type"] == "user" and text_of(blocks(row.get("message"))):
                    row.setdefault("promptId", str(uuid.uuid4()))
                with self.path.open("a", encoding="utf8") as out:
                    out.write(json.dumps(row) + "\n")
                take(row)
            else:
                with self.path.open("a", encoding="utf8") as out:
                    out.write(json.dumps(row) + "\n")
                if row.get("subtype") in ("turn_duration", "stop_hook_summary") and not self.broken:
                    self.end_turn()
        self.end_turn()
        self.hook("SessionEnd", reason="other")
        self.cairn("process", "--wait")
        self.sessions.append({"key": f"{self.series}/{file.stem}", "turns": self.turns, "context": ""})

    def close(self):
        if self.sessions:
            self.sessions[-1]["context"] = self.begin(str(uuid.uuid4()))


def told(text, patterns):
    """Whether every pattern matches within one window of the text."""
    found = [[m.span() for m in re.finditer(p, text, re.I)] for p in patterns]
    if not all(found):
        return False
    starts = sorted(start for spans in found for start, _ in spans)
    return any(all(any(s >= at and e <= at + WINDOW for s, e in spans) for spans in found) for at in starts)


def cut(text):
    return text.encode("utf8", "replace")[:BUDGET].decode("utf8", "ignore")


def last_answers(sessions):
    return cut("\n\n".join(next((t["answer"] for t in reversed(s["turns"]) if t["answer"]), "") for s in reversed(sessions)))


def all_answers(sessions):
    return cut("\n\n".join(t["answer"] for s in reversed(sessions) for t in reversed(s["turns"])))


def sections(context):
    """Bytes by section."""
    sizes, name = {}, "frame"
    for line in context.splitlines(keepends=True):
        if line.startswith("# "):
            name = line[2:].strip()
        sizes[name] = sizes.get(name, 0) + len(line.encode("utf8"))
    return sizes


def open_lines(context):
    found = re.search(r"^# Open\n(.*?)(?=^# |\Z)", context, re.S | re.M)
    return [line for line in found.group(1).splitlines() if line.startswith("- ")] if found else []


class Figures:
    def __init__(self, facts):
        self.facts, self.sums, self.verdicts = facts, {}, []
        self.open = {"right": 0, "shown": 0, "found": 0, "items": 0}
        self.sizes, self.tokens, self.ranks = {}, [], {}

    def count(self, tool, where, key, after, context):
        for fact in self.facts.get(key, {}).get("facts", []):
            hit = told(context, fact["patterns"])
            row = self.sums.setdefault(tool, {}).setdefault(where, [0, 0])
            row[0] += hit
            row[1] += 1
            self.verdicts.append({"tool": tool, "where": where, "session": key, "after": after, "fact": fact["id"], "told": hit})

    def judge(self, sessions):
        for i, session in enumerate(sessions):
            texts = {"cairn": session["context"], "A last answers": last_answers(sessions[: i + 1]), "C all answers": all_answers(sessions[: i + 1])}
            self.tokens.append((len(session["context"].encode("utf8")) + 3) // 4)
            for name, size in sections(session["context"]).items():
                self.sizes[name] = self.sizes.get(name, 0) + size
            for tool, text in texts.items():
                self.count(tool, "own", session["key"], session["key"], text)
                for earlier in sessions[:i]:
                    self.count(tool, "older", earlier["key"], session["key"], text)
            items = self.facts.get(session["key"], {}).get("open")
            if items is None:
                continue
            lines = open_lines(session["context"])
            firm = [item for item in items if not item.get("doubtful")]
            self.open["shown"] += len(lines)
            self.open["right"] += sum(any(re.search(item["pattern"], line, re.I) for item in items) for line in lines)
            self.open["items"] += len(firm)
            self.open["found"] += sum(any(re.search(item["pattern"], line, re.I) for line in lines) for item in firm)

    def search(self, player):
        for key, entry in self.facts.items():
            if key.split("/")[0] != player.series:
                continue
            for question in entry.get("questions", []):
                try:
                    ids = [hit["id"] for hit in json.loads(player.cairn("search", "--json", "--limit", "10", "--", *question["ask"].split()))["results"]]
                except (ValueError, KeyError):
                    ids = []
                self.ranks.setdefault(question.get("kind", "all"), []).append(next((n for n, hit in enumerate(ids, 1) if re.search(question["pattern"], player.cairn("show", hit), re.I)), 0))


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcripts", type=pathlib.Path)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("series", nargs="*")
    parser.add_argument("--facts", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--budget", type=int)
    args = parser.parse_args()
    figures = Figures(json.loads(args.facts.read_text()) if args.facts else {})
    root = pathlib.Path(tempfile.mkdtemp(prefix="cairn-sessions-"))
    times, gap, start = {}, 0, time.monotonic()
    for series in args.series or sorted(d.name for d in args.transcripts.iterdir() if d.is_dir()):
        player = Player(root, args.bin.resolve(), series, args.budget)
        try:
            for file in sorted((args.transcripts / series).glob("*.jsonl")):
                player.play(file)
            player.close()
            figures.search(player)
            gap += json.loads(player.cairn("status", "--json") or "{}").get("ledger", {}).get("gap", 0)
        finally:
            player.cairn("daemon", "stop")
        figures.judge(player.sessions)
        for event, ms in player.times.items():
            times.setdefault(event, []).extend(ms)
        if args.out:
            for session in player.sessions:
                file = args.out / f"{session['key']}.txt"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(session["context"])
    if args.out:
        (args.out / "verdicts.json").write_text(json.dumps(figures.verdicts, indent=1))
    for tool, row in figures.sums.items():
        own, older = row.get("own", [0, 0]), row.get("older", [0, 0])
        print(f"{tool:16} own {own[0]}/{own[1]} {percent(*own)}   older {older[0]}/{older[1]} {percent(*older)}")
    whole = sum(figures.sizes.values())
    for name, size in sorted(figures.sizes.items(), key=lambda item: -item[1]):
        print(f"section {name:40} {percent(size, whole)}")
    if figures.tokens:
        print(f"tokens: mean {statistics.mean(figures.tokens):.0f}, largest {max(figures.tokens)}")
    print(f"open: precision {percent(figures.open['right'], figures.open['shown'])}, recall {percent(figures.open['found'], figures.open['items'])}")
    hits = {}
    for kind, ranks in figures.ranks.items():
        hits[kind] = {"of": len(ranks), **{f"within {n}": sum(0 < rank <= n for rank in ranks) for n in (1, 3, 10)}}
        print(f"search {kind}: " + ", ".join(f"{n} {percent(count, len(ranks))}" for n, count in hits[kind].items() if n != "of"))
    medians = {event: round(statistics.median(ms), 2) for event, ms in sorted(times.items())}
    print("hook medians (ms):", medians)
    print(json.dumps({"facts": figures.sums, "sections": figures.sizes, "tokens": figures.tokens, "open": figures.open, "search": hits,
                      "hook_ms": medians, "ledger_gap": gap, "seconds": round(time.monotonic() - start, 1)}))


if __name__ == "__main__":
    main()
