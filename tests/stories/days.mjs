// Two sessions of the length of a working day: many turns, most of them small.
import { Story } from './story.mjs';

// One turn: a request, what was done for it, the answer.
function turn(s, request, work, answer) {
  s.ask(request);
  work?.();
  s.stop(answer);
}

function commit(s, files, hash, message) {
  s.run(`git add ${files} && git commit -m '${message}'`, `[main ${hash}] ${message.split('\n')[0]}\n 2 files changed`);
}

function task(s, id, subject) {
  s.tool('TaskCreate', { subject, description: subject }, { task: { id, subject } });
}

function taskIs(s, taskId, status) {
  s.tool('TaskUpdate', { taskId, status }, { success: true, taskId, updatedFields: ['status'] });
}

// A service that forecasts tides: a wrong result, a slow query, a new endpoint, a release that waits.
function tides() {
  const s = new Story('day_tides', '/home/dev/code/tidewatch', '2026-11-09T08:00:00.000Z');
  s.start();
  turn(s, 'Morning. What state is the project in? I was away for a week.', () => {
    s.run('git log --oneline -5', 'e41c9a0 stations: read the new catalogue\n77b0d12 forecast: cache harmonics\n');
    s.run('git status --short', '');
    s.read('README.md', '# tidewatch\n');
  }, 'The tree is clean and `main` is at e41c9a0. Last week two things landed: the new station catalogue (412 stations instead of 380) and a cache for harmonic constants. Nothing is in progress.');
  turn(s, 'A pilot wrote that high water at Sandhaven is an hour late on our page. Can you check?', () => {
    s.run('python3 -m tidewatch forecast SANDHAVEN --date 2026-11-08', 'HW 05:41  4.8 m\nHW 18:02  4.9 m\n');
    s.read('tidewatch/forecast.py', 'def forecast(station, day):\n    t0 = datetime.combine(day, time(), station.tz)\n');
    s.grep('station.tz', ['tidewatch/forecast.py', 'tidewatch/catalogue.py']);
    s.read('tidewatch/catalogue.py', 'tz = ZoneInfo(row["zone"])\n');
  }, 'Confirmed: the harbour office gives 04:43 and 17:04 for that day, we print 05:41 and 18:02.\n\nThe cause is in `catalogue.py`. The new catalogue names a time zone for each station, and `forecast.py` computes in that zone, but harmonic constants are referred to UTC. Stations whose zone is UTC are right, all others are shifted by their offset. That is 96 of the 412 stations.');
  turn(s, 'Ouch. Since when?', () => s.run('git log -1 --format=%ci e41c9a0', '2026-11-03 10:12:44 +0000'),
    'Since e41c9a0, six days ago. Before that the catalogue had no zones and everything was UTC.');
  turn(s, 'Fix it, with a test that uses the harbour office table for Sandhaven.', () => {
    s.write('tests/test_zones.py', 'def test_sandhaven_against_the_office_table():\n    assert True\n');
    s.run('python3 -m pytest -q tests/test_zones.py', "FAILED tests/test_zones.py::test_sandhaven_against_the_office_table - assert '05:41' == '04:43'\n1 failed in 0.31s", 1);
    s.edit('tidewatch/forecast.py', 'def forecast(station, day):', '    t0 = datetime.combine(day, time(), station.tz)', '    t0 = datetime.combine(day, time(), UTC)', 40);
    s.run('python3 -m pytest -q tests/test_zones.py', '1 passed in 0.30s');
    s.run('python3 -m pytest -q', "FAILED tests/test_page.py::test_day_boundaries - assert 3 == 4\n1 failed, 211 passed in 9.8s", 1);
  }, 'The forecast is right for Sandhaven now, within two minutes of the office table. One other test fails: `test_day_boundaries` in `tests/test_page.py`.\n\nThe page shows the high waters of a local day, and it used to get them by asking for exactly one day of forecast. Now a UTC day and a local day differ, so a high water at 23:50 local time falls out.');
  turn(s, 'Right, the page must ask for the local day. Do that.', () => {
    s.edit('tidewatch/page.py', 'def waters_of(station, day):', '    return forecast(station, day)', '    begin, end = local_day(station, day)\n    return [w for w in forecast_between(station, begin, end)]', 22);
    s.run('python3 -m pytest -q', '212 passed in 9.9s');
  }, 'Done: `page.waters_of` asks for the interval of the local day, and `forecast_between` is the only function that computes. All 212 tests pass.');
  turn(s, 'commit', () => commit(s, 'tidewatch tests', '9d20f3b', 'forecast: compute in UTC, show in local days'), 'Committed as 9d20f3b.');
  turn(s, 'Can you write the pilots a short answer I can send?', null,
    'Here is one:\n\n> Thank you for the report. Since 3 November our page showed tides of stations outside UTC shifted by their time zone, Sandhaven by one hour. This is corrected in today\'s release. Heights were not affected.');
  turn(s, 'Thanks. Next thing: the list of stations takes four seconds to load. Find out why before you change anything.', () => {
    s.run('python3 -m tidewatch serve --profile', 'catalogue.load 3.7 s, of which zoneinfo 3.1 s');
    s.read('tidewatch/catalogue.py', 'def load():\n    for row in rows: stations.append(Station(row, ZoneInfo(row["zone"])))\n');
    s.run('python3 bench/load.py', 'load: 3.72 s (412 stations)');
  }, 'The whole catalogue is read again for each request, and 3.1 of 3.7 seconds go into building `ZoneInfo` objects from the tz database on the network disk.\n\nTwo ways to fix it:\n1. keep the catalogue in memory and read it again when its file changes\n2. build zones only when a station is shown\n\nI recommend the first: it also removes the parsing, and the catalogue is only 300 kB.');
  turn(s, 'Go with 1.', () => {
    s.edit('tidewatch/catalogue.py', 'def load():', '    return read_rows(PATH)', '    return kept.get(PATH, read_rows)', 31);
    s.write('tidewatch/kept.py', 'class Kept:\n    def get(self, path, read):\n        pass\n');
    s.write('tests/test_kept.py', 'def test_a_changed_file_is_read_again():\n    assert True\n');
    s.run('python3 bench/load.py', 'load: 0.02 s (412 stations)');
    s.run('python3 -m pytest -q', '215 passed in 9.6s');
  }, 'The catalogue is kept in memory (`tidewatch/kept.py`) and read again when size or time of the file change. We decided to keep the parsed catalogue instead of building zones lazily, because that removes the parsing too. The list loads in 20 ms, before it was 3.7 s. 215 tests pass.\n\nOne thing to know: a file that is replaced within the same second with the same size is not noticed. The importer writes once a day, so I left it.');
  turn(s, 'ok, commit and push', () => {
    commit(s, 'tidewatch tests', '41aa7c8', 'catalogue: keep it in memory until its file changes');
    s.run('git push', 'To git@example.org:tidewatch.git\n   e41c9a0..41aa7c8  main -> main');
  }, 'Committed as 41aa7c8 and pushed.');
  turn(s, 'Did CI pass?', () => s.run('gh run list --limit 1', 'completed  success  catalogue: keep it in memory'), 'Yes, the run for 41aa7c8 is green.');
  turn(s, 'How much memory does the kept catalogue take?', () => s.run('python3 bench/memory.py', 'catalogue: 2.1 MB'), '2.1 MB with its 412 stations, once per process.');
  turn(s, 'fine', null, 'Good.');
  turn(s, 'Now the JSON endpoint for the tide clock people. They want next high and low water for a station. Make a task list first.', () => {
    s.read('docs/wishes.md', 'Tide clock: next high, next low, height, in one small answer.\n');
    task(s, '1', 'Endpoint /v1/next/STATION');
    task(s, '2', 'Rate limit for clients without a key');
    task(s, '3', 'Describe the endpoint in docs/api.md');
    task(s, '4', 'Load test with 500 clocks');
  }, 'Four tasks are on the list: the endpoint, a rate limit for clients without a key, the description, and a load test with 500 clocks. I would begin with the endpoint.');
  turn(s, 'yes', () => {
    taskIs(s, '1', 'in_progress');
    s.write('tidewatch/api.py', 'def next_waters(station):\n    return {}\n');
    s.write('tests/test_api.py', 'def test_next():\n    assert True\n');
    s.run('python3 -m pytest -q tests/test_api.py', 'FAILED tests/test_api.py::test_next_is_after_now - KeyError: low\n1 failed, 3 passed in 0.4s', 1);
    s.edit('tidewatch/api.py', 'def next_waters(station):', '    return {}', '    return {"high": first(highs), "low": first(lows)}', 5);
    s.run('python3 -m pytest -q tests/test_api.py', '4 passed in 0.4s');
    taskIs(s, '1', 'completed');
  }, '`GET /v1/next/SANDHAVEN` answers with the next high and the next low water, each with time in UTC, height in metres and the station\'s zone. Unknown stations get 404 with the three nearest names. Answers may be cached until the next water: `Cache-Control: max-age` is set to the seconds until then.');
  turn(s, 'Why UTC and not local time in the answer?', null,
    'Because a clock that is switched off over a change to summer time would show a wrong hour until it asks again. The zone is in the answer, so a client can convert.');
  turn(s, 'Makes sense. Commit it, then the rate limit.', () => {
    commit(s, 'tidewatch tests', '60c1e5d', 'api: next high and low water of a station');
    taskIs(s, '2', 'in_progress');
    s.read('tidewatch/server.py', 'def handle(request):\n    pass\n');
    s.write('tidewatch/limit.py', 'class Bucket:\n    pass\n');
    s.edit('tidewatch/server.py', 'def handle(request):', '    pass', '    if not limit.allows(request.client): return too_many(request)', 12);
    s.run('python3 -m pytest -q', '224 passed in 10.1s');
    taskIs(s, '2', 'completed');
  }, 'Committed the endpoint as 60c1e5d. Clients without a key now have 60 requests an hour, kept in a token bucket per address in `tidewatch/limit.py`; above that they get 429 with `Retry-After`. Buckets live in memory, so two servers count apart. 224 tests pass.');
  turn(s, 'Is per address ok with IPv6?', () => s.read('tidewatch/limit.py', 'key = request.client\n'),
    'No, you are right to ask: one household has a whole /64, so a client could change its address with every request. The bucket should be keyed by the /64 prefix for IPv6 and by the address for IPv4.');
  turn(s, 'Do that.', () => {
    s.edit('tidewatch/limit.py', 'def key_of(address):', '    return address', '    return prefix_of(address, 64) if address.version == 6 else address', 9);
    s.run('python3 -m pytest -q tests/test_limit.py', '6 passed in 0.2s');
  }, 'Keyed by /64 for IPv6 now, with a test for two addresses of one prefix.');
  turn(s, 'commit that too', () => commit(s, 'tidewatch tests', 'b3f8e02', 'limit: count IPv6 clients by their prefix'), 'Committed as b3f8e02.');
  turn(s, 'Run the load test with 500 clocks, please.', () => {
    taskIs(s, '4', 'in_progress');
    s.write('bench/clocks.py', 'CLOCKS = 500\n');
    s.run('python3 bench/clocks.py', '500 clocks, one request a minute: p50 11 ms, p99 840 ms, 2 errors');
    s.run('python3 bench/clocks.py --profile', 'harmonics.cache: lock contention 71 %');
  }, 'With 500 clocks the median is 11 ms, but the 99th percentile is 840 ms and two requests failed.\n\nThe root cause is the cache for harmonic constants from last week: it holds one lock while it computes, so all stations wait for one. The two errors are requests that waited longer than the 5 s limit of the proxy.');
  turn(s, 'Can you fix the cache without a big change?', () => {
    s.edit('tidewatch/harmonics.py', 'def constants(station):', '    with lock:', '    with lock_of(station):', 18);
    s.run('python3 bench/clocks.py', '500 clocks, one request a minute: p50 9 ms, p99 60 ms, 0 errors');
    s.run('python3 -m pytest -q', '226 passed in 10.0s');
    taskIs(s, '4', 'completed');
  }, 'A lock for each station instead of one for all: the 99th percentile is 60 ms now and no request failed. 226 tests pass.');
  turn(s, 'Great, commit and push everything.', () => {
    commit(s, 'tidewatch bench', '0c77d9e', 'harmonics: one lock for each station\n\nWith 500 clocks p99 falls from 840 ms to 60 ms.');
    s.run('git push', 'To git@example.org:tidewatch.git\n   41aa7c8..0c77d9e  main -> main');
  }, 'Pushed up to 0c77d9e.');
  turn(s, 'How would the release go out? I forgot.', () => s.read('docs/release.md', 'Tag, wait for the package, restart both servers one after the other.\n'),
    'By tag: `git tag v2.4.0 && git push --tags` builds the package; when it is there, restart the two servers one after the other with `ops/restart`. `docs/release.md` has it.');
  turn(s, 'Can we release today?', () => {
    s.run('gh issue list --label blocker', '#88 Station names with apostrophes break the search');
    s.run("python3 -m tidewatch search \"St Mary's\"", 'sqlite3.OperationalError: near "s": syntax error', 1);
  }, 'Not yet: #88 is marked as a blocker, and I can reproduce it. `search` puts the name into the SQL text, so an apostrophe ends the string. That is also an injection, though the database is read-only.');
  turn(s, 'Fix 88 then.', () => {
    s.edit('tidewatch/search.py', 'def by_name(text):', '    rows = db.execute(f"... LIKE \'%{text}%\'")', '    rows = db.execute("... LIKE ?", (f"%{text}%",))', 14);
    s.write('tests/test_search.py', 'def test_apostrophe():\n    assert True\n');
    s.run('python3 -m pytest -q', '228 passed in 10.2s');
    commit(s, 'tidewatch tests', '5ee6b41', 'search: pass names as parameters\n\nFixes #88.');
  }, '#88 is fixed in 5ee6b41: the search passes names as parameters. I looked for other places that build SQL from text and found none. 228 tests pass.');
  turn(s, 'Any reason not to tag now?', null,
    'Two. `docs/api.md` does not describe the endpoint yet, and the tide clock people should try it before the address is fixed. I would ask them first and tag tomorrow.');
  turn(s, 'ok, tomorrow then. Never tag on a Friday by the way.', null, 'Noted: no tags on a Friday. Tomorrow is a Tuesday.');
  turn(s, 'One more: why did nobody notice the wrong tides for six days?', () => {
    s.read('tests/test_forecast.py', 'STATIONS = ["GREENWICH", "LEITH"]\n');
    s.run('python3 -m tidewatch compare --all', '412 stations compared, 0 off by more than 10 minutes');
  }, 'Because every station in `tests/test_forecast.py` has UTC as its zone, so the shift was zero in all tests. `tidewatch compare --all` against the office tables would have shown it: now it finds no station that is off by more than 10 minutes, but nothing runs it.');
  turn(s, 'It should run every night.', () => {
    s.write('ops/nightly.yml', 'on: schedule\n');
    commit(s, 'ops', '8a0b6f7', 'ops: compare all stations with the office tables every night');
    s.run('git push', 'To git@example.org:tidewatch.git\n   0c77d9e..8a0b6f7  main -> main');
  }, 'The comparison runs every night at 03:00 UTC and opens an issue when a station is off by more than 10 minutes (8a0b6f7, pushed). I have not seen it run yet.\n\n## Next steps\n- describe `/v1/next` in `docs/api.md`\n- ask the tide clock people to try the endpoint, then tag v2.4.0\n- look at the first nightly comparison');
  turn(s, 'perfect, see you tomorrow', null, 'See you tomorrow.');
  s.end();
  return s;
}

// A photo library: an importer that loses pictures, a plan that is accepted, work that breaks off.
function photos() {
  const s = new Story('day_photos', '/home/dev/code/lightbox', '2026-11-10T13:00:00.000Z');
  s.start();
  turn(s, 'Users report that imports from phones skip some pictures. Here is a log: "imported 1204 of 1311". Where could the 107 be?', () => {
    s.read('src/import/importer.cc', 'for (const Entry& e : walk(card)) if (!seen.insert(e.name).second) continue;\n');
    s.read('src/import/walk.cc', 'bool is_picture(const Path& p) { return ext(p) == ".jpg" || ext(p) == ".heic"; }\n');
    s.grep('is_picture', ['src/import/walk.cc', 'src/import/importer.cc']);
  }, 'There are two candidates in the code:\n- `importer.cc` skips an entry whose file name was seen before. Phones start again at IMG_0001 in each folder, so pictures of different folders with the same name are lost.\n- `walk.cc` knows `.jpg` and `.heic` in lower case only.\n\nThe first fits better: 107 of 1311 is what I would expect when a card has two folders that overlap.');
  turn(s, 'Can you prove it with a card like that?', () => {
    s.write('tests/import_test.cc', 'TEST(Import, TakesEqualNamesOfDifferentFolders) {}\n');
    s.run('ctest --test-dir build -R Import', '1/9 Test #31: Import.TakesEqualNamesOfDifferentFolders ...***Failed\n89% tests passed, 1 tests failed out of 9', 8);
  }, 'Yes: a card with `100/IMG_0001.jpg` and `101/IMG_0001.jpg` imports one picture. The test `Import.TakesEqualNamesOfDifferentFolders` fails as it should.');
  turn(s, 'Fix it.', () => {
    s.edit('src/import/importer.cc', 'void Importer::run() {', '    if (!seen.insert(e.name).second) continue;', '    if (!seen.insert(content_hash(e)).second) continue;', 52);
    s.run('cmake --build build', '[12/12] Linking lightbox');
    s.run('ctest --test-dir build -R Import', '100% tests passed, 0 tests failed out of 9');
  }, 'The importer now knows a picture by the hash of its content instead of its name. I chose the hash over name and size, because two bursts can have the same name and the same size. All 9 import tests pass.');
  turn(s, 'What does hashing cost on a card with 10,000 pictures?', () => {
    s.run('build/bench/import --pictures 10000', 'before 41 s, now 63 s; 1.9 GB read twice');
  }, 'It costs 22 s: 63 s instead of 41 s for 10,000 pictures, because every file is read twice, once to hash and once to copy.');
  turn(s, 'Too much. Hash while copying?', () => {
    s.edit('src/import/copy.cc', 'Result copy(const Entry& e) {', '  write(read(e));', '  Hasher h;\n  for (Chunk c : chunks(e)) h.add(c), write(c);', 20);
    s.edit('src/import/importer.cc', 'void Importer::run() {', '    if (!seen.insert(content_hash(e)).second) continue;', '    const Copied c = copy(e);\n    if (!seen.insert(c.hash).second) discard(c);', 52);
    s.run('cmake --build build && ctest --test-dir build -R Import', '100% tests passed, 0 tests failed out of 9');
    s.run('build/bench/import --pictures 10000', 'now 43 s; 1.0 GB read');
  }, 'Hashed while copying it takes 43 s, two more than before. A picture that turns out to be a copy is discarded after the fact; that costs a write only for real duplicates.');
  turn(s, 'Good. Commit.', () => {
    s.run("git add -A && git commit -m 'import: know pictures by content, not by name'", '[main 3f9a1c7] import: know pictures by content, not by name\n 4 files changed');
  }, 'Committed as 3f9a1c7.');
  turn(s, 'And the upper case endings?', () => {
    s.edit('src/import/walk.cc', 'bool is_picture(const Path& p) {', '  return ext(p) == ".jpg" || ext(p) == ".heic";', '  return is_one_of(lower(ext(p)), kPictures);', 8);
    s.run('ctest --test-dir build -R Import', '100% tests passed, 0 tests failed out of 10');
    s.run("git add -A && git commit -m 'import: endings in any case'", '[main a02be55] import: endings in any case\n 2 files changed');
  }, 'Fixed too (a02be55): endings are compared in lower case, and `.jpeg`, `.png`, `.dng` count as pictures.');
  turn(s, 'Do we also lose videos?', () => s.grep('mp4', []), 'Videos are not imported at all: `.mov` and `.mp4` are in no list. That is a missing feature, not a loss: the log counts pictures only.');
  turn(s, 'Leave videos. How could users get the lost pictures back?', () => {
    s.read('docs/manual.md', '# Import\n');
  }, 'By importing the same card again: what is there already is known by its content and skipped, only the lost ones are copied. If the card was formatted, they are gone; we never had them.');
  turn(s, 'Then say so in the manual and the changelog.', () => {
    s.edit('docs/manual.md', '# Import', 'Pictures are imported once.', 'Pictures are known by their content. Import a card again to get what an older version skipped.', 4);
    s.edit('CHANGELOG.md', '## Unreleased', '', '- Import no longer skips pictures that share a file name. Import the card again to get them.', 3);
    s.run("git add -A && git commit -m 'docs: import a card again to get skipped pictures'", '[main 77d41f0] docs: import a card again to get skipped pictures\n 2 files changed');
  }, 'Both say it now, committed as 77d41f0.');
  turn(s, 'Next: albums open slowly, 2 s for 3,000 pictures. Look into it and make a plan, do not change code yet.', () => {
    s.run('build/bench/album --pictures 3000', 'open 2.1 s: thumbnails 1.6 s, sort 0.3 s, database 0.2 s');
    s.read('src/view/album.cc', 'for (Picture& p : album) p.thumbnail = decode(p.file);\n');
    s.read('src/store/thumbs.cc', '// no table of thumbnails\n');
    s.tool('ExitPlanMode', { plan: '# Plan: Thumbnails from a cache\n\n1. Store thumbnails in a table of their own, in `src/store/thumbs.cc`\n2. Decode only what is on the screen, in `src/view/album.cc`\n3. Fill the cache during import, in `src/import/importer.cc`\n4. Remove thumbnails with their picture, in `src/store/trash.cc`\n\n## Risks\nThe cache grows: 12 kB for each picture.\n' },
      { plan: '# Plan: Thumbnails from a cache', isAgent: false });
    s.write('src/store/thumbs.cc', 'Result<Thumb> find(PictureId id) { return {}; }\n');
    s.run('cmake --build build && ctest --test-dir build -R Thumbs', '100% tests passed, 0 tests failed out of 4');
  }, 'The plan is accepted and step 1 is done: thumbnails are stored in a table of their own.\n\nWhy albums are slow: of 2.1 s, 1.6 s go into decoding a thumbnail for every picture of the album, also for those that are not on the screen. Sorting takes 0.3 s, the database 0.2 s.');
  turn(s, 'go on with step 2', () => {
    s.edit('src/view/album.cc', 'void Album::open() {', '  for (Picture& p : album) p.thumbnail = decode(p.file);', '  grid.on_visible([&](Picture& p) { p.thumbnail = thumbs.find_or_decode(p); });', 61);
    s.run('cmake --build build && ctest --test-dir build', '99% tests passed, 1 tests failed out of 340\nThe following tests FAILED:\n\t212 - Album.KeepsItsPlaceWhenPicturesAreAdded (Failed)', 8);
    s.edit('src/view/grid.cc', 'void Grid::insert(Item i) {', '  items.push_back(i);', '  items.push_back(i);\n  keep_first_visible();', 33);
    s.run('cmake --build build && ctest --test-dir build', '100% tests passed, 0 tests failed out of 340');
    s.run('build/bench/album --pictures 3000', 'open 0.4 s');
  }, 'Step 2 is done: an album of 3,000 pictures opens in 0.4 s. `Album.KeepsItsPlaceWhenPicturesAreAdded` failed on the way, because pictures that get their thumbnail later moved the grid; the grid now keeps its first visible picture in place. All 340 tests pass.');
  turn(s, 'commit both steps', () => {
    s.run("git add -A && git commit -m 'album: decode only thumbnails that are visible'", '[main c4471ee] album: decode only thumbnails that are visible\n 5 files changed');
  }, 'Committed as c4471ee.');
  turn(s, 'How do I run only the album tests?', null, '`ctest --test-dir build -R Album`; `-R Grid` has those of the grid.');
  turn(s, 'thanks', null, 'You are welcome.');
  turn(s, 'How big would the cache get for my library, 80,000 pictures?', null, 'About 960 MB at 12 kB each. A limit of 500 MB with the least recently seen thrown out would keep what people look at.');
  turn(s, 'Make 500 MB the limit.', () => {
    s.edit('src/store/thumbs.cc', 'void Thumbs::put(PictureId id, Thumb t) {', '  insert(id, t);', '  insert(id, t);\n  trim_to(kLimit);', 44);
    s.run('ctest --test-dir build -R Thumbs', '100% tests passed, 0 tests failed out of 5');
    s.run("git add -A && git commit -m 'thumbs: at most 500 MB'", '[main 19be6d3] thumbs: at most 500 MB\n 2 files changed');
  }, 'The table holds at most 500 MB, the least recently seen go first (19be6d3).');
  turn(s, 'Someone on the list says our HEIC thumbnails are rotated. Known?', () => {
    s.run('gh issue list --search "HEIC rotated"', '#412 HEIC thumbnails rotated by 90 degrees');
    s.read('src/decode/heic.cc', 'Image decode_heic(File f) { return libheif(f); }\n');
  }, 'Yes, #412. `decode_heic` applies the rotation of the file, and then `thumbs` applies the EXIF rotation once more. JPEG files have only the second, so they are right.');
  turn(s, 'Fix it in the decoder or in thumbs?', null, 'In the decoder: it should return pictures unrotated like the one for JPEG, so that one place knows about rotation. Otherwise every caller has to know which decoder it got the picture from.');
  turn(s, 'ok do it', () => {
    s.edit('src/decode/heic.cc', 'Image decode_heic(File f) {', '  return libheif(f);', '  return libheif(f, kIgnoreTransformations);', 12);
    s.run('ctest --test-dir build -R Decode', '100% tests passed, 0 tests failed out of 22');
    s.run("git add -A && git commit -m 'heic: leave the rotation to the caller'", '[main 52f0c9b] heic: leave the rotation to the caller\n 2 files changed');
  }, 'Done in 52f0c9b. Thumbnails that are in the cache already stay rotated until they are made anew; I have not added a way to do that.');
  turn(s, 'Users will complain. Can we drop HEIC thumbnails once at the next start?', () => {
    s.read('src/store/migrate.cc', 'static const Step kSteps[] = {{1, create}, {2, thumbs}};\n');
    s.edit('src/store/migrate.cc', 'static const Step kSteps[] = {', '{2, thumbs}};', '{2, thumbs}, {3, drop_heic_thumbs}};', 7);
    s.run('ctest --test-dir build -R Migrate', '100% tests passed, 0 tests failed out of 6');
    s.run("git add -A && git commit -m 'store: make HEIC thumbnails anew'", '[main e8813a4] store: make HEIC thumbnails anew\n 2 files changed');
  }, 'Migration 3 removes the thumbnails of HEIC pictures; they are made anew when they are seen (e8813a4).');
  turn(s, 'push please', () => s.run('git push', 'To git@example.org:lightbox.git\n   77d41f0..e8813a4  main -> main'), 'Pushed up to e8813a4.');
  turn(s, 'CI?', () => s.run('gh run list --limit 1', 'completed  failure  store: make HEIC thumbnails anew'), 'Red: the run for e8813a4 failed on macOS, Linux and Windows passed.');
  turn(s, 'what is it', () => s.run('gh run view --log-failed', 'grid_test.mm:48: expected 12 visible items, got 13'),
    '`grid_test.mm` expects 12 visible items and gets 13. The macOS grid counts a row that is half visible, the others do not. It came with c4471ee, where the grid began to tell what is visible.');
  turn(s, 'Which one is right?', null, 'Counting half visible rows is right for us: their thumbnails must be decoded, or the user sees grey rows at the edge. So Linux and Windows should count them too, and the test should expect 13.');
  turn(s, 'Do it that way.', () => {
    s.edit('src/view/grid.cc', 'Range Grid::visible() const {', '  return rows(top, bottom);', '  return rows(floor(top), ceil(bottom));', 80);
    s.edit('tests/grid_test.mm', 'TEST(Grid, Visible)', '  EXPECT_EQ(grid.visible().size(), 12);', '  EXPECT_EQ(grid.visible().size(), 13);', 48);
    s.run('ctest --test-dir build -R Grid', '100% tests passed, 0 tests failed out of 17');
    s.run("git add -A && git commit -m 'grid: rows that are half visible count'", '[main 6d2e0f1] grid: rows that are half visible count\n 2 files changed');
    s.run('git push', 'To git@example.org:lightbox.git\n   e8813a4..6d2e0f1  main -> main');
  }, 'All platforms count rows that are half visible now (6d2e0f1, pushed).');
  turn(s, 'and CI now?', () => s.run('gh run list --limit 1', 'completed  success  grid: rows that are half visible count'), 'Green on all three.');
  turn(s, 'How much faster is an album now, for the release notes?', () => s.run('build/bench/album --pictures 3000', 'open 0.3 s'),
    'An album of 3,000 pictures opens in 0.3 s instead of 2.1 s.');
  turn(s, 'What is left of the plan?', null, 'Steps 3 and 4: filling the cache during import, and removing thumbnails with their picture. Until step 4 is done, thumbnails of deleted pictures stay in the table until they are the least recently seen.');
  turn(s, 'Then step 4 first, that sounds like a privacy problem.', () => {
    s.read('src/store/trash.cc', 'void Trash::empty() { remove_files(); }\n');
    s.edit('src/store/trash.cc', 'void Trash::empty() {', '  remove_files();', '  remove_files();\n  thumbs.remove(ids);', 15);
    s.run('ctest --test-dir build -R Trash', '88% tests passed, 1 tests failed out of 8\nThe following tests FAILED:\n\t301 - Trash.EmptyingRemovesThumbnails (Failed)', 8);
  }, 'You are right: a thumbnail of a deleted picture can still be seen in the database file. `Trash::empty` removes thumbnails now, but `Trash.EmptyingRemovesThumbnails` still fails, because pictures of a removed album are deleted by another path that does not go through the trash.');
  s.ask('Find that other path and make it use the trash.');
  s.grep('remove_album', ['src/store/albums.cc', 'src/view/sidebar.cc']);
  s.read('src/store/albums.cc', 'void remove_album(AlbumId id) { exec("DELETE FROM pictures WHERE album = ?", id); }\n');
  s.edit('src/store/albums.cc', 'void remove_album(AlbumId id) {', '  exec("DELETE FROM pictures WHERE album = ?", id);', '  for (PictureId p : pictures_of(id)) trash.take(p);', 40);
  s.tool('Bash', { command: 'cmake --build build && ctest --test-dir build', description: 'Build and run all tests' }, { lost: true });
  s.end('other');
  return s;
}

export default [tides(), photos()];
