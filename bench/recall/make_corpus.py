#!/usr/bin/env python3
"""Writes the labelled corpus as JSON: sessions with their turns and tool calls, and questions with the turns that answer them.

Deterministic. Each story of stories.py becomes two sessions: one that builds the thing, and one weeks later that changes it. Around
the telling turns stand ordinary ones, so that a question has many near misses. Sessions are split into train and test by story:
no story is in both. Nothing of it comes from real people.
"""
import json
import random

from small_talk import SMALL_TALK
from stories import STORIES

random.seed(20261117)

SMALL = [('thanks, looks good', 'You are welcome.'), ('commit this', 'Committed.'), ('continue', 'Going on with the next step.'),
         ('what is left?', 'Only the documentation is left.'), ('please tidy up the imports', 'The imports are sorted.')]
CHORES = [('rename the variables in {file} so that they say what they hold', 'Renamed the variables in {file}. Nothing else changed.'),
          ('add a comment above {symbol}', 'Added a comment above {symbol} that says what it promises.'),
          ('update the dependencies of {project}', 'Updated the dependencies of {project}; the lock file changed, nothing else did.'),
          ('look at the {component} and tell me how it works', 'The {component} starts in {file}. {symbol} does the work, the rest is plumbing.'),
          ('write a test for {symbol}', 'Wrote a test for {symbol}; it passes.')]


def read(path, text):
    return dict(tool='Read', input=dict(file_path=path), response=dict(type='text', file=dict(filePath=path, content=text)))


def edit(path, before, after):
    return dict(tool='Edit', input=dict(file_path=path, old_string=before, new_string=after),
                response=dict(filePath=path, oldString=before, newString=after, structuredPatch=[]))


def run(command, purpose, output):
    return dict(tool='Bash', input=dict(command=command, description=purpose), response=dict(stdout=output, stderr='', interrupted=False))


def fails(command, purpose, error):
    return dict(tool='Bash', input=dict(command=command, description=purpose), error='Exit code 1\n' + error)


def filler(s, n):
    """Calls that say nothing: listing and reading."""
    out = []
    for i in range(n):
        kind = random.randrange(3)
        if kind == 0:
            out.append(run('ls ' + s['file'].rsplit('/', 1)[0], 'List files', '\n'.join('%s_%d' % (s['symbol'], k) for k in range(4))))
        elif kind == 1:
            out.append(read(s['root'] + s['file'], 'line %d of %s\n' % (random.randrange(900), s['component'])))
        else:
            out.append(run('git status --short', 'Show changes', ' M ' + s['file']))
    return out


def session(s, number, turns):
    return dict(id='%s-%s' % (s['id'], number), project=s['project'], turns=turns)


def turn(prompt, answer, calls):
    return dict(prompt=prompt, answer=answer, calls=calls)


def chore(s):
    prompt, answer = random.choice(CHORES)
    return turn(prompt.format(**s), answer.format(**s), filler(s, 5) + [edit(s["root"] + s["file"], "a", "b")])


def small(s):
    prompt, answer = random.choice(SMALL)
    return turn(prompt, answer, filler(s, 2))


def first(s):
    fix = turn('the {command} check fails, find out why'.format(**s), 'The check failed because {cause}. I fixed it: {fix}.'.format(**s),
               filler(s, 2) + [fails(s['command'], s['purpose'], s['error']), read(s['root'] + s['file'], s['symbol']),
                               edit(s['root'] + s['file'], s['symbol'] + '()', s['symbol'] + '(fixed)'), run(s['command'], s['purpose'], 'ok\nall passed')])
    middle = turn('measure it once more', 'Measured; the figures are as expected.', filler(s, 3) + [run(s['command'], s['purpose'], 'started\n' + s['printed'] + '\ndone')])
    return [turn('please {feature} in the {component}'.format(**s), 'Done: the {component} can {feature} now. The work is in {symbol}, {file}.'.format(**s),
                 filler(s, 3) + [edit(s['root'] + s['file'], '', 'def %s' % s['symbol'])]),
            small(s), fix, middle, chore(s)]


def second(s):
    decide = turn('how should the {component} do it from now on?'.format(**s),
                  'We decided that {decision} instead of {alternative}, because {reason}.'.format(**s), filler(s, 4))
    place = turn('where would I change that?', 'For the {component}: {where}.'.format(**s), filler(s, 3))
    return [chore(s), decide, small(s), place, chore(s)]


def questions(s):
    a, b = '%s-1#' % s['id'], '%s-2#' % s['id']
    plain = 'the ' + s['component']
    yield 'failed', s['q'][0], [a + '3']
    yield 'fixed', s['q'][1], [a + '3']
    yield 'why', s['q'][2], [b + '2']
    yield 'why', 'why did we not choose %s for %s' % (s['alternative'], plain), [b + '2']
    yield 'middle', s['printed_q'], [a + '4']
    yield 'middle', s['printed'].split(',')[0], [a + '4']
    yield 'where', s['where_q'], [b + '4']
    yield 'where', 'where do I change this for %s' % plain, [b + '4']
    yield 'command', 'command to %s' % s['purpose'].lower(), [a + '3', a + '4']
    yield 'failed', s['error'][:70], [a + '3']
    yield 'what', 'when did we %s' % s['feature'], [a + '1']
    yield 'where', s['symbol'], [a + '1']
    yield 'fixed', 'what was wrong when the check of %s failed' % plain, [a + '3']
    yield 'why', 'what was decided about %s' % plain, [b + '2']


def prompts(s):
    """What a person asks at the start of a new session, with the turns that help."""
    a, b = '%s-1#' % s['id'], '%s-2#' % s['id']
    yield 'I see %s again in the %s, what was it the last time?' % (s['error'][:60], s['component']), [a + '3']
    yield 'why does the %s use this: %s, and not %s?' % (s['component'], s['decision'], s['alternative']), [b + '2']
    yield 'where do I change it for the %s, %s' % (s['component'], s['where_q']), [b + '4']
    yield 'the %s check of the %s fails again: %s' % (s['command'].split()[0], s['component'], s['cause']), [a + '3']
    yield 'did we already %s in the %s, and where is %s?' % (s['feature'], s['component'], s['symbol']), [a + '1']


def main():
    sessions, asked, real = [], [], []
    for number, s in enumerate(STORIES):
        s = dict(s, id='%s%02d' % (s['project'], number), root='/home/dev/code/%s/' % s['project'])
        sessions += [(number, session(s, 1, first(s))), (number + 40, session(s, 2, second(s)))]
        split = 'test' if number % 2 else 'train'
        asked += [dict(kind=kind, question=text, evidence=right, split=split) for kind, text, right in questions(s)]
        real += [dict(prompt=text, evidence=right, project=s['project']) for text, right in prompts(s)]
    sessions = [one for _, one in sorted(sessions, key=lambda pair: pair[0])]
    for one in sessions:  # more ordinary turns after the telling ones
        s = dict(next(x for n, x in enumerate(STORIES) if one['id'].startswith('%s%02d' % (x['project'], n))), root='/home/dev/code/%s/' % one['project'])
        one['turns'] += [chore(s) if random.random() < .6 else small(s) for _ in range(3)]
    print(json.dumps(dict(sessions=sessions, questions=asked, prompts=real[:100], small_talk=SMALL_TALK), indent=1, ensure_ascii=False))


if __name__ == '__main__':
    main()
