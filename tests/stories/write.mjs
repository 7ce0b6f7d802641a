// Writes tests/recorded/written_*/hooks.jsonl from the stories.
import building from './building.mjs';
import mending from './mending.mjs';
import reading from './reading.mjs';

for (const story of [...building, ...mending, ...reading]) story.save();
