// Linked into every program of the tsan build by ./check. A daemon has no stderr and an environment of its
// own, so that what ThreadSanitizer finds in it would be seen by nobody: it goes to files instead, which
// ./check looks for.
const char* __tsan_default_options(void);
const char* __tsan_default_options(void) {
  return "log_path=" CAIRN_SANITIZER_LOG;
}
