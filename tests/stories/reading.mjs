// Sessions that only look, and sessions in other languages.
import { Story } from './story.mjs';

function research() {
  const s = new Story('written_research', '/home/dev/code/gateway', '2026-11-11T09:15:00.000Z');
  s.start();
  s.ask('How does the gateway treat expired tokens? Only look, change nothing.');
  s.grep('expired', ['src/auth/token.ts', 'src/auth/refresh.ts', 'src/middleware/require_user.ts']);
  s.read('src/auth/token.ts', 'export function verify(token: string): Claims {}\n');
  s.read('src/auth/refresh.ts', 'export async function refresh(claims: Claims) {}\n');
  s.read('src/middleware/require_user.ts', 'export const requireUser = async (req, res, next) => {}\n');
  s.run('git log --oneline -3 -- src/auth', '0badf00 accept a clock skew of 30 s\n1234567 refresh tokens rotate');
  s.tool('WebFetch', { url: 'https://datatracker.ietf.org/doc/html/rfc6749', prompt: 'refresh token rotation' }, { bytes: 9000, code: 200, result: 'text' });
  s.stop('An expired access token is answered with 401 and the header `X-Token-Expired: 1`; the client then calls `/auth/refresh`.\n\n' +
    '- `verify` in `src/auth/token.ts` accepts a clock skew of 30 seconds, because mobile clocks drift (commit 0badf00).\n' +
    '- `refresh` in `src/auth/refresh.ts` rotates the refresh token, and a token that is used twice ends the whole family.\n' +
    '- It turns out that WebSocket connections are never checked again after the handshake, so an expired token stays good there until the socket closes.\n\n' +
    'Nothing was changed.');
  s.end();
  return s;
}

function german() {
  const s = new Story('written_german', '/home/dev/code/fahrplan', '2026-11-12T11:00:00.000Z');
  s.start();
  s.ask('Die Ankunftszeiten sind nach der Zeitumstellung um eine Stunde falsch. Bitte beheben.');
  s.run('mvn -q test', '[ERROR] Tests run: 58, Failures: 1, Errors: 0, Skipped: 0\n[ERROR] AnkunftTest.nachZeitumstellung:33 expected: <03:10> but was: <02:10>', 1);
  s.read('src/main/java/de/fahrplan/Ankunft.java', 'class Ankunft {\n}\n');
  s.edit('src/main/java/de/fahrplan/Ankunft.java', '    public LocalTime zeit(Halt halt) {', '        return abfahrt.plus(dauer).toLocalTime();', '        return abfahrt.atZone(BERLIN).plus(dauer).toLocalTime();', 21);
  s.run('mvn -q test', 'Tests run: 58, Failures: 0, Errors: 0, Skipped: 0');
  s.stop('Die Ankunftszeiten stimmen jetzt auch in der Nacht der Zeitumstellung.\n\nDas Problem war, dass die Dauer zur Ortszeit ohne Zeitzone addiert wurde. Wir haben uns entschieden, überall `ZonedDateTime` zu verwenden statt UTC umzurechnen.\n\nDie Anzeige am Bahnsteig ist noch nicht umgestellt.\n\nNächste Schritte:\n- `Bahnsteig.java` auf ZonedDateTime umstellen');
  s.end();
  return s;
}

function chinese() {
  const s = new Story('written_chinese', '/home/dev/code/liebiao', '2026-11-13T02:00:00.000Z');
  s.start();
  s.ask('列表页翻到第二页就崩溃，请修复。');
  s.run('pnpm test', 'FAIL src/list.test.ts\n  × 第二页 (8 ms)\nTests: 1 failed, 20 passed', 1);
  s.edit('src/list.ts', 'export function page(items: Item[], n: number) {', '  return items.slice(n * SIZE, SIZE);', '  return items.slice(n * SIZE, (n + 1) * SIZE);', 4);
  s.run('pnpm test', 'Tests: 21 passed');
  s.stop('翻页不再崩溃。问题在于slice的第二个参数是结束位置，不是长度。我们决定保留每页二十条。搜索结果页还没有改，下一步处理它。');
  s.end();
  return s;
}

export default [research(), german(), chinese()];
