/* bench_measure ROUNDS STDIN_FILE NAME COMMAND [NAME COMMAND]...
 *
 * Runs each COMMAND (by `sh -c`) ROUNDS times, in turns, with STDIN_FILE as its stdin and its output thrown
 * away. Prints one line each: NAME, median and 95th percentile in milliseconds, peak memory of its largest
 * process in KB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMaxCommands = 8, kMaxRounds = 1000 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void run_child(const char* command, const char* input) {
  const int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);
  if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
  execl("/bin/sh", "sh", "-c", command, (char*)NULL);
  _exit(127);
}

/* Milliseconds that the command took; a command that fails ends the program. */
static double run(const char* command, const char* input, long* peak_kb) {
  const double start = now_ms();
  const pid_t pid = fork();
  if (pid == 0) run_child(command, input);
  int status = 0;
  struct rusage usage;
  if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0) {
    fprintf(stderr, "bench_measure: a command failed (status %d): %s\n", status, command);
    exit(1);
  }
  if (usage.ru_maxrss > *peak_kb) *peak_kb = usage.ru_maxrss;
  return now_ms() - start;
}

int main(int argc, char** argv) {
  const int commands = (argc - 3) / 2, rounds = argc > 1 ? atoi(argv[1]) : 0;
  if (argc < 5 || argc % 2 == 0 || commands > kMaxCommands || rounds < 1 || rounds > kMaxRounds) {
    fprintf(stderr, "usage: bench_measure ROUNDS STDIN_FILE NAME COMMAND [NAME COMMAND]...\n");
    return 2;
  }
  static double took[kMaxCommands][kMaxRounds];
  long peak_kb[kMaxCommands] = {0};
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < commands; ++i) took[i][round] = run(argv[4 + 2 * i], argv[2], &peak_kb[i]);
  for (int i = 0; i < commands; ++i) {
    qsort(took[i], (size_t)rounds, sizeof(double), by_value);
    printf("%s %.2f %.2f %ld\n", argv[3 + 2 * i], took[i][rounds / 2], took[i][rounds * 95 / 100],
           peak_kb[i]);
  }
  return 0;
}
