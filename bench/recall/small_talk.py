"""200 prompts that need nothing from the past: small talk, approvals, steering, generic requests."""
SMALL_TALK = """thanks
thank you, that is great
ok
ok, go on
yes
yes please
no
no, not like that
stop
wait
looks good
looks good to me, thanks
perfect
nice work
great, what is next?
continue
please continue
go ahead
do it
sounds good
sure
that works
hmm, let me think about it
one moment please
sorry, I meant the other one
never mind
undo that
revert the last change
try again
try it once more
run it again
run the tests
run all the tests please
run the linter
build it
can you build it?
commit this
commit and push
please commit with a good message
push it
open a pull request
make a branch for this
merge it
show me the diff
show me what changed
what did you change?
explain that again
explain it in simpler words
why?
how so?
are you sure?
is that really necessary?
can you double check?
please check your work
is there a simpler way?
make it simpler
make it shorter
make it faster
clean this up
tidy up a little
remove the dead code
add comments
add a comment there
remove that comment
rename it to something better
use a better name
use a constant for this
format the file
fix the formatting
fix the typo
fix it
fix this please
fix all of them
that does not work
it still fails
still broken
same error
I get an error
it crashes
nothing happens
it works now
it works, thank you
good morning
hello
hi there
hey, how are you?
good evening, let us start
see you tomorrow
that is all for today
let us stop here
done for today
what time is it?
tell me a joke
what can you do?
who are you?
which model are you?
help
help me please
I need help
I have a question
let us begin
let us start with something small
start over
start from scratch
forget what I said
ignore that
skip this step
skip the tests for now
next
next step please
what is the next step?
what is left to do?
how long will it take?
how much is left?
give me a summary
summarize what you did
write a summary
list the files
list all files here
open the file
read the file
read it again
read the whole file first
look at the code
look at this
have a look at it
check the logs
check that it compiles
does it compile?
does it pass?
did it pass?
did you run it?
did you save it?
where were we?
please be brief
be more careful
do not touch other files
do not change anything else
only change this function
only this file please
keep it as it is
leave it
leave the rest alone
put it back
move it up
move it to the top
move this into its own function
split this function
make it a function
extract that
inline it
delete it
delete this file
create a new file
create the folder first
add a test
add tests for this
write a test first
write more tests
the test is wrong
update the test
update the docs
update the readme
write the documentation
add it to the changelog
bump the version
make a release
install the dependencies
install it
update everything
use the newest version
use async here
use a loop instead
use early returns
handle the errors
handle this case too
what about null?
what if it is empty?
what about performance?
is it safe?
is this thread safe?
can we cache it?
print the result
print more details
log it
add logging
turn it on
turn it off
enable it
disable it
make it optional
make it configurable
make it the default
yes, both of them
the first one
the second option please
option two
I like the first idea
I do not like it
that is ugly
that is clever
good catch
good point
my mistake
I was wrong
you are right
you are welcome
please wait for me
I will do that myself
let me try
I will be back in ten minutes
ask me before you do that
tell me when you are done
what do you think?
what would you do?
which one is better?
pick one
your choice""".split('\n')
