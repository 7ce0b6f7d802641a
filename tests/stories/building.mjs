// Sessions that change much: a refactor, a migration of 400 events, work with subagents.
import { Story } from './story.mjs';

function refactor() {
  const s = new Story('written_refactor', '/home/dev/code/portal', '2026-11-06T10:00:00.000Z');
  const users = ['src/api/login.ts', 'src/api/profile.ts', 'src/api/invite.ts', 'src/jobs/expire.ts', 'src/jobs/digest.ts', 'src/admin/list.ts', 'src/admin/merge.ts', 'src/web/session.ts'];
  s.start();
  s.ask('Refactor: rename UserStore to AccountRepository everywhere and split reading from writing. No change of behaviour.');
  s.grep('UserStore', users);
  s.read('src/store/user_store.ts', 'export class UserStore {\n  find(id: string) {}\n  save(user: User) {}\n}\n');
  s.run('git mv src/store/user_store.ts src/store/account_repository.ts');
  s.edit('src/store/account_repository.ts', '', 'export class UserStore {', 'export class AccountRepository implements AccountReader, AccountWriter {', 1);
  s.write('src/store/account_reader.ts', 'export interface AccountReader {\n  find(id: string): Promise<Account | undefined>;\n}\n');
  s.write('src/store/account_writer.ts', 'export interface AccountWriter {\n  save(account: Account): Promise<void>;\n}\n');
  for (const file of users)
    s.edit(file, `export async function ${file.split('/').pop().replace('.ts', '')}Handler(store: UserStore) {`, '  const user = await store.find(id);', '  const account = await accounts.find(id);', 9);
  s.run('npm run build', "src/jobs/digest.ts(14,22): error TS2345: Argument of type 'UserStore' is not assignable to parameter of type 'AccountReader'.", 2);
  s.edit('src/jobs/digest.ts', 'export async function digestHandler(store: UserStore) {', '  await send(store);', '  await send(accounts);', 14);
  s.run('npm run build', 'done in 4.1s');
  s.run('npm test 2>&1 | tail -4', 'Test Suites: 31 passed, 31 total\nTests:       212 passed, 212 total');
  s.run("git add -A && git commit -m 'Rename UserStore to AccountRepository, split reading from writing'", '[accounts 7a7a7a1] Rename UserStore to AccountRepository, split reading from writing\n 12 files changed, 64 insertions(+), 58 deletions(-)');
  s.stop('UserStore is AccountRepository now, behind the interfaces AccountReader and AccountWriter. Jobs take only the reader, because they must never write. 212 tests pass; committed as 7a7a7a1 on `accounts`.\n\nRemaining: `docs/architecture.md` still says UserStore.');
  s.end();
  return s;
}

// One turn of 400 events: 198 tool calls with two events each, and the ends of the turn.
function long() {
  const s = new Story('written_long', '/home/dev/code/bank', '2026-11-09T08:00:00.000Z');
  const modules = ['accounts', 'cards', 'fees', 'fraud', 'ledger', 'limits', 'loans', 'payments', 'rates', 'reports', 'statements', 'transfers'];
  s.start();
  s.ask('Move every module from float amounts to the Money type. Module by module, tests green after each, one commit per module.');
  s.read('bank/money.py', 'class Money:\n    def __add__(self, other):\n        ...\n');
  s.grep('float', modules.map((m) => `bank/${m}/service.py`));
  for (const m of modules) {
    s.read(`bank/${m}/service.py`, `def total_${m}(rows):\n    return sum(r.amount for r in rows)\n`);
    s.read(`bank/${m}/models.py`, `class ${m[0].toUpperCase()}${m.slice(1)}:\n    amount: float\n`);
    s.grep(`total_${m}`, [`bank/${m}/service.py`, `tests/${m}/test_service.py`]);
    for (let i = 0; i < 3; ++i)
      s.edit(`bank/${m}/service.py`, `def total_${m}(rows):`, `    step_${i} = float(rows[${i}].amount)`, `    step_${i} = Money(rows[${i}].amount)`, 3 + 4 * i);
    s.edit(`bank/${m}/models.py`, `class ${m[0].toUpperCase()}${m.slice(1)}:`, '    amount: float', '    amount: Money', 2);
    s.run(`python3 -m pytest -q tests/${m}`, `FAILED tests/${m}/test_service.py::test_total - TypeError: unsupported operand type(s) for +: 'Money' and 'float'\n1 failed, 11 passed in 0.31s`, 1);
    s.edit(`bank/${m}/service.py`, `def total_${m}(rows):`, '    return sum(r.amount for r in rows)', '    return sum((r.amount for r in rows), Money(0))', 20);
    s.edit(`tests/${m}/test_service.py`, 'def test_total():', '    assert total == 3.0', '    assert total == Money(3)', 5);
    s.run(`python3 -m pytest -q tests/${m}`, '12 passed in 0.30s');
    s.run(`git commit -qam 'Use Money in ${m}'`);
    s.run('git status --short', '');
    s.run(`python3 tools/check_floats.py bank/${m}`, `bank/${m}: no float left`);
  }
  for (let i = 0; s.lines.length < 396; ++i) s.read(`docs/adr/${String(i + 1).padStart(4, '0')}.md`, '# Decision\n');
  s.run('python3 -m pytest -q', "FAILED tests/e2e/test_export.py::test_csv - AssertionError: '3.00 EUR' != '3.0'\n1 failed, 431 passed in 9.12s", 1);
  s.stop('All twelve modules use Money, one commit each. The problem was the same in every module: `sum()` starts from the integer 0, which Money refuses to add to; `sum(..., Money(0))` is the fix.\n\n' +
    'One end-to-end test still fails: the CSV export writes `3.00 EUR` where the bank expects `3.0`. We decided to leave the wire format alone and to format amounts in `bank/reports/csv.py`.\n\nNext steps:\n- format Money in `bank/reports/csv.py`\n- drop `tools/check_floats.py` when CI has the lint rule');
  s.end();
  return s;
}

function subagents() {
  const s = new Story('written_subagents', '/home/dev/code/maps', '2026-11-10T14:00:00.000Z');
  s.start();
  s.ask('The tile server runs out of memory. Let one agent look at the cache and one at the decoder, then fix what they find.');
  s.delegate('Explore', 'look at the tile cache', 'The tile cache never evicts: `TileCache::put` in src/cache.rs adds to a HashMap without a bound.\nSeen in src/cache.rs:40.', (agent) => {
    s.read('src/cache.rs', 'pub struct TileCache {}\n', agent);
    s.grep('TileCache', ['src/cache.rs', 'src/server.rs'], agent);
  });
  s.delegate('Explore', 'look at the PNG decoder', 'The decoder is fine: it holds one image at a time and frees it.', (agent) => {
    s.read('src/decode.rs', 'pub fn decode() {}\n', agent);
    s.run('cargo test decode', 'test result: ok. 9 passed; 0 failed', 0, agent);
  });
  s.delegate('general-purpose', 'bound the tile cache to 512 MB', 'Bounded the cache: least recently used tiles go first.', (agent) => {
    s.edit('src/cache.rs', 'pub fn put(&mut self, key: Key, tile: Tile) {', '        self.tiles.insert(key, tile);', '        self.tiles.put(key, tile);\n        self.shrink_to(MAX_BYTES);', 40, agent);
    s.edit('Cargo.toml', '[dependencies]', '', 'lru = "0.12"', 9, agent);
  });
  s.run('cargo test', 'test result: ok. 61 passed; 0 failed; 0 ignored');
  s.stop('The memory grew because `TileCache` never evicted anything; the decoder is innocent. It now keeps at most 512 MB, least recently used first. 61 tests pass. Not yet measured under load.');
  s.end();
  return s;
}

export default [refactor(), long(), subagents()];
