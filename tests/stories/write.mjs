// Writes tests/recorded/written_*/ and day_*/ from the stories.
import building from './building.mjs';
import days from './days.mjs';
import mending from './mending.mjs';
import reading from './reading.mjs';

for (const story of [...building, ...mending, ...reading, ...days]) story.save();
