// Sessions that mend, undo and change plans.
import { Story } from './story.mjs';

function bugHunt() {
  const s = new Story('written_bug_hunt', '/home/dev/code/shop', '2026-11-02T09:00:00.000Z');
  s.start();
  s.ask('Since yesterday the cart total is off by a cent for some orders and CI is red. Find out why and fix it.');
  s.run('python3 -m pytest -q', [
    '..F.....F...                                                        [100%]',
    '=================================== FAILURES ===================================',
    '____________________________ test_total_of_three_lines _________________________',
    "E       AssertionError: assert Decimal('29.98') == Decimal('29.97')",
    '=========================== short test summary info ============================',
    "FAILED tests/test_cart.py::test_total_of_three_lines - AssertionError: assert Decimal('29.98') == Decimal('29.97')",
    "FAILED tests/test_cart.py::test_discount_then_tax - AssertionError: assert Decimal('11.90') == Decimal('11.89')",
    '2 failed, 40 passed in 0.84s'].join('\n'), 1);
  s.read('shop/cart.py', 'class Cart:\n    def total(self):\n        return sum(round_cent(l.net * TAX) for l in self.lines)\n');
  s.run("git log --oneline -5 -- shop/cart.py", '8c1d2aa round each line so that the invoice adds up\n41fe0b7 carts know their currency');
  s.grep('round_cent', ['shop/cart.py', 'shop/invoice.py', 'shop/money.py']);
  s.read('shop/money.py', 'def round_cent(x):\n    return x.quantize(CENT, ROUND_HALF_UP)\n');
  s.edit('shop/cart.py', '    def total(self):', '        return sum(round_cent(l.net * TAX) for l in self.lines)',
    '        return round_cent(sum(l.net * TAX for l in self.lines))', 12);
  s.run('python3 -m pytest -q', [
    "FAILED tests/test_cart.py::test_discount_then_tax - AssertionError: assert Decimal('11.90') == Decimal('11.89')",
    '1 failed, 41 passed in 0.80s'].join('\n'), 1);
  s.edit('shop/cart.py', '    def apply_discount(self, percent):', '        self.net = round_cent(self.net * (100 - percent) / 100)',
    '        self.net = self.net * (100 - percent) / 100', 31);
  s.run('python3 -m pytest -q', '..........................................\n42 passed in 0.79s');
  s.stop('The cart total is right again.\n\nThe problem was that commit 8c1d2aa rounded every line to a cent before adding, ' +
    'so three lines could be off by one cent. `Cart.total` and `Line.apply_discount` now round once, at the end. ' +
    'All 42 tests pass.\n\n`shop/invoice.py` still rounds each line; I left it because the printed lines must add up.\n\n' +
    '## Next steps\n- decide with accounting whether invoices may differ from the cart by a cent\n- add a property test for totals');
  s.ask('Good. Commit that.');
  s.run("git add shop/cart.py && git commit -m 'Round the cart total once, at the end'",
    '[main 5b7e9d1] Round the cart total once, at the end\n 1 file changed, 2 insertions(+), 2 deletions(-)');
  s.stop('Committed as 5b7e9d1.');
  s.end();
  return s;
}

function commitAndRevert() {
  const s = new Story('written_commit_and_revert', '/home/dev/code/feeds', '2026-11-03T13:00:00.000Z');
  s.start();
  s.ask('Feed pages are slow. Put a Redis cache in front of the renderer.');
  s.read('internal/render/render.go', 'package render\n\nfunc Page(f Feed) []byte {\n\treturn build(f)\n}\n');
  s.write('internal/cache/redis.go', 'package cache\n\nimport "github.com/redis/go-redis/v9"\n\ntype Redis struct {\n\tclient *redis.Client\n}\n\nfunc (r *Redis) Get(key string) ([]byte, bool) {\n\treturn nil, false\n}\n');
  s.edit('internal/render/render.go', 'func Page(f Feed) []byte {', '\treturn build(f)', '\tif page, ok := pages.Get(f.ID); ok {\n\t\treturn page\n\t}\n\treturn build(f)', 14);
  s.run('go get github.com/redis/go-redis/v9', 'go: added github.com/redis/go-redis/v9 v9.7.0');
  s.run('go test ./...', 'ok  \tfeeds/internal/cache\t0.01s\nok  \tfeeds/internal/render\t0.20s');
  s.run("git add -A && git commit -m 'Cache rendered feeds in Redis'", '[main c0ffee1] Cache rendered feeds in Redis\n 4 files changed, 88 insertions(+), 1 deletion(-)');
  s.stop('Feeds are cached in Redis for five minutes. Committed as c0ffee1.');
  s.ask('Staging is broken: pages of different users are mixed up. Undo it.');
  s.run('go test ./internal/e2e -run TestTwoReaders', '--- FAIL: TestTwoReaders (0.31s)\n    e2e_test.go:44: reader b was given the page of reader a\nFAIL', 1);
  s.run('git revert --no-edit c0ffee1', '[main dead10c] Revert "Cache rendered feeds in Redis"\n 4 files changed, 1 insertion(+), 88 deletions(-)');
  s.run('go test ./internal/e2e -run TestTwoReaders', 'ok  \tfeeds/internal/e2e\t0.30s');
  s.stop('Reverted in dead10c; the end-to-end test passes again.\n\nIt turns out that a page depends on the reader as well as on the feed, because read marks are rendered into it, ' +
    'and the cache key was the feed alone. We decided to use an in-process cache of the parsed feed instead of whole pages in Redis.\n\n' +
    'Next step: cache `feed.Parse` results in `internal/feed` with an LRU of 1000 entries.');
  s.end();
  return s;
}

function planChanges() {
  const s = new Story('written_plan_changes', '/home/dev/code/notes', '2026-11-04T08:30:00.000Z');
  const pdf = 'export PDF with the pdfkit library', tests = 'write golden tests for the export', menu = 'add the menu entry', docs = 'document the export';
  s.start();
  s.ask('Add a PDF export to the notes app. Plan it first, then do it.');
  s.todos(['in_progress', pdf], ['pending', tests], ['pending', menu], ['pending', docs]);
  s.run('npm install pdfkit', 'added 17 packages in 2s');
  s.write('src/export/pdf.ts', "import PDFDocument from 'pdfkit';\n\nexport function exportPdf(note: Note): Buffer {\n  return render(note);\n}\n");
  s.run('npm test', 'FAIL src/export/pdf.test.ts\n  \u2715 keeps the order of right-to-left text (41 ms)\nTests: 1 failed, 88 passed, 89 total', 1);
  s.tool('WebFetch', { url: 'https://pdfkit.org/docs/text.html', prompt: 'Does it lay out right-to-left text?' }, { bytes: 4000, code: 200, result: 'No bidirectional layout.' });
  s.ask('Users write Hebrew and Arabic. If pdfkit cannot do that, change the plan.');
  s.todos(['completed', 'find out whether pdfkit can lay out right-to-left text'], ['in_progress', 'print through headless Chromium instead of pdfkit'], ['pending', tests], ['pending', menu], ['pending', docs]);
  s.run('npm uninstall pdfkit && npm install puppeteer-core', 'removed 17 packages, added 9 packages');
  s.edit('src/export/pdf.ts', 'export function exportPdf(note: Note): Buffer {', '  return render(note);', '  return printHtml(toHtml(note));', 3);
  s.write('src/export/html.ts', 'export function toHtml(note: Note): string {\n  return page(note.title, note.body);\n}\n');
  s.run('npm test', 'Tests: 89 passed, 89 total');
  s.todos(['completed', 'print through headless Chromium instead of pdfkit'], ['pending', tests], ['pending', menu], ['pending', docs]);
  s.stop('The plan changed: pdfkit has no bidirectional layout, so I decided to print HTML through headless Chromium rather than using pdfkit. ' +
    'The export works and the 89 tests pass, right-to-left text included. The menu entry, golden tests and documentation are not yet done.');
  s.end();
  return s;
}

// Closed by its user in the middle of an edit, nothing committed.
function brokenOff() {
  const s = new Story('written_broken_off', '/home/dev/code/mailer', '2026-11-05T17:40:00.000Z');
  s.start();
  s.ask('Move the mail queue from cron to a worker that retries with back-off.');
  s.read('mailer/queue.rb', 'class Queue\n  def drain\n  end\nend\n');
  s.write('mailer/worker.rb', 'class Worker\n  def run\n    loop { step }\n  end\nend\n');
  s.edit('mailer/queue.rb', '  def drain', '    mails.each(&:deliver)', '    mails.each { |m| attempt(m) }', 8);
  s.run('bundle exec rspec spec/worker_spec.rb', "1) Worker retries with back-off\n   Failure/Error: expect(delays).to eq [1, 2, 4]\n3 examples, 1 failure\nrspec ./spec/worker_spec.rb:21 # Worker retries with back-off", 1);
  s.edit('mailer/worker.rb', '  def run', '    loop { step }', '    loop { step or sleep(delay) }', 2);
  s.tool('Bash', { command: 'bundle exec rspec spec/worker_spec.rb', description: 'Run it' }, { lost: true });
  s.end('other');
  return s;
}

export default [bugHunt(), commitAndRevert(), planChanges(), brokenOff()];
