// Numbers every call that changes something under FAULT_DIR, across threads and processes, and
// makes call FAULT_AT go wrong. Interposes on libc through LD_PRELOAD.
//
//   FAULT_DIR     only calls on paths under this folder count
//   FAULT_EXCEPT  calls on paths with this in them do not
//   FAULT_COUNT   a file that holds the shared count (8 bytes, mapped)
//   FAULT_TRACE   a file that gets one line a call: "<number> <call> <path>[ <second path>]"
//   FAULT_AT      the number of the call that goes wrong; 0 for none
//   FAULT_ACTION  kill    end the process before the call
//                 torn    write half, then end the process; other calls: kill
//                 short   write half and say so, and have no room for the rest; other calls go through
//                 split   append half and say so, and let another program append a line meanwhile
//                 after   make the call, then end the process
//                 <errno> fail with that error number
//   FAULT_ON      1: every later call fails too (errno actions only)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *dir, *except, *action;
static long *count, at, on;
static int trace = -1;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }
static int raw_open(const char *path, int flags) { return syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600); }

__attribute__((constructor)) static void start(void) {
  const char *counter = getenv("FAULT_COUNT"), *log = getenv("FAULT_TRACE");
  if (!counter || !getenv("FAULT_DIR")) return;
  int fd = raw_open(counter, O_RDWR | O_CREAT);
  if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof(long)) < 0) return;
  count = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (count == MAP_FAILED) return;
  if (log) trace = raw_open(log, O_WRONLY | O_APPEND | O_CREAT);
  action = getenv("FAULT_ACTION") ? getenv("FAULT_ACTION") : "kill";
  at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
  on = getenv("FAULT_ON") ? atol(getenv("FAULT_ON")) : 0;
  dir = getenv("FAULT_DIR");
  except = getenv("FAULT_EXCEPT");
}

static void note(long n, const char *call, const char *a, const char *b) {
  char line[3 * PATH_MAX];
  int length = snprintf(line, sizeof line, "%ld %s %s%s%s\n", n, call, a, b ? " " : "", b ? b : "");
  if (trace >= 0 && syscall(SYS_write, trace, line, length) < 0) return;
}
static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

static int under(const char *path) {
  size_t n = strlen(dir);
  if (except && strstr(path, except)) return 0;
  return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}
static const char *absolute(int at_fd, const char *path, char *out) {
  if (path[0] == '/') return strncpy(out, path, PATH_MAX - 1);
  char link[64], base[PATH_MAX];
  snprintf(link, sizeof link, at_fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at_fd);
  ssize_t n = readlink(link, base, sizeof base - 1);
  if (n < 0) n = 0;
  base[n] = 0;
  snprintf(out, PATH_MAX, "%.2000s/%.2000s", base, path);
  return out;
}
static const char *of_fd(int fd, char *out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, out, PATH_MAX - 1);
  out[n < 0 ? 0 : n] = 0;
  return out;
}

static void intrude(int fd) { if (syscall(SYS_write, fd, "\nanother program\n", 17) < 0) return; }

enum { GO, FAIL, HALF, HALF_DIE, SPLIT, AFTER };
/* What is to happen to this call; `errno` is set for FAIL. */
static int judge(const char *call, const char *a, const char *b, int is_write, int fd) {
  if (!dir || !(under(a) || (b && under(b)))) return GO;
  long n = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
  note(n, call, a, b);
  int is_errno = action[0] >= '0' && action[0] <= '9';
  // libuv goes on with the rest of a short write by itself; on a full disk that fails.
  if (at && n == at + 1 && is_write && strcmp(action, "short") == 0) return errno = ENOSPC, FAIL;
  if (at == 0 || (n != at && !(on && is_errno && n > at))) return GO;
  if (is_errno) return errno = atoi(action), FAIL;
  if (strcmp(action, "after") == 0) return AFTER;
  if (strcmp(action, "short") == 0) return is_write ? HALF : GO;
  if (strcmp(action, "split") == 0) return is_write && (fcntl(fd, F_GETFL) & O_APPEND) ? SPLIT : GO;
  if (strcmp(action, "torn") == 0 && is_write) return HALF_DIE;
  die();
  return GO;
}

#define CALL(type, name, params, args, path1, path2)                             \
  type name params {                                                             \
    char one[PATH_MAX] = "", two[PATH_MAX] = "";                                 \
    (void)one, (void)two;                                                        \
    int verdict = dir ? judge(#name, path1, path2, 0, -1) : GO;                      \
    if (verdict == FAIL) return -1;                                              \
    type result = REAL(name) args;                                               \
    if (verdict == AFTER) die();                                                 \
    return result;                                                               \
  }
#define P(path) absolute(AT_FDCWD, path, one)
#define Q(path) absolute(AT_FDCWD, path, two)
#define NONE ((const char *)0)
CALL(int, fsync, (int fd), (fd), of_fd(fd, one), NONE)
CALL(int, fdatasync, (int fd), (fd), of_fd(fd, one), NONE)
CALL(int, rename, (const char *a, const char *b), (a, b), P(a), Q(b))
CALL(int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b), absolute(d, a, one), absolute(e, b, two))
CALL(int, link, (const char *a, const char *b), (a, b), P(a), Q(b))
CALL(int, symlink, (const char *a, const char *b), (a, b), Q(b), NONE)
CALL(int, unlink, (const char *a), (a), P(a), NONE)
CALL(int, unlinkat, (int d, const char *a, int flags), (d, a, flags), absolute(d, a, one), NONE)
CALL(int, rmdir, (const char *a), (a), P(a), NONE)
CALL(int, mkdir, (const char *a, mode_t mode), (a, mode), P(a), NONE)
CALL(int, ftruncate, (int fd, off_t size), (fd, size), of_fd(fd, one), NONE)
CALL(int, ftruncate64, (int fd, off64_t size), (fd, size), of_fd(fd, one), NONE)
CALL(int, chmod, (const char *a, mode_t mode), (a, mode), P(a), NONE)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), of_fd(fd, one), NONE)
CALL(int, futimens, (int fd, const struct timespec t[2]), (fd, t), of_fd(fd, one), NONE)
CALL(int, utimensat, (int d, const char *a, const struct timespec t[2], int flags), (d, a, t, flags), absolute(d, a, one), NONE)

#define WRITE(name, params, args, half_args)                                     \
  ssize_t name params {                                                          \
    char path[PATH_MAX];                                                         \
    if (dir && fd == 1 && size >= 4 && memcmp(bytes, "ack ", 4) == 0) note(0, "ack", "-", NULL); \
    int verdict = dir ? judge(#name, of_fd(fd, path), NULL, 1, fd) : GO;             \
    if (verdict == FAIL) return -1;                                              \
    ssize_t result = verdict == HALF || verdict == HALF_DIE || verdict == SPLIT ? REAL(name) half_args : REAL(name) args; \
    if (verdict == SPLIT) intrude(fd);                                           \
    if (verdict == HALF_DIE || verdict == AFTER) die();                          \
    return result;                                                               \
  }
WRITE(write, (int fd, const void *bytes, size_t size), (fd, bytes, size), (fd, bytes, size / 2))
WRITE(pwrite, (int fd, const void *bytes, size_t size, off_t o), (fd, bytes, size, o), (fd, bytes, size / 2, o))
WRITE(pwrite64, (int fd, const void *bytes, size_t size, off64_t o), (fd, bytes, size, o), (fd, bytes, size / 2, o))

ssize_t writev(int fd, const struct iovec *parts, int n) {
  char path[PATH_MAX];
  int verdict = dir ? judge("writev", of_fd(fd, path), NULL, 1, fd) : GO;
  if (verdict == FAIL) return -1;
  ssize_t result = verdict == HALF || verdict == HALF_DIE || verdict == SPLIT ? REAL(write)(fd, parts[0].iov_base, parts[0].iov_len / 2) : REAL(writev)(fd, parts, n);
  if (verdict == SPLIT) intrude(fd);
  if (verdict == HALF_DIE || verdict == AFTER) die();
  return result;
}

/* Opening counts only when it may create or empty a file. */
static int opening(const char *name, int at_fd, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX] = "";
  int verdict = dir && (flags & (O_CREAT | O_TRUNC)) ? judge(name, absolute(at_fd, path, full), NULL, 0, -1) : GO;
  if (verdict == FAIL) return -1;
  int fd = syscall(SYS_openat, at_fd, path, flags | O_LARGEFILE, mode);
  if (verdict == AFTER) die();
  return fd;
}
#define MODE(flags) ({ va_list v; va_start(v, flags); mode_t m = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(v, mode_t) : 0; va_end(v); m; })
int open(const char *path, int flags, ...) { return opening("open", AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return opening("open", AT_FDCWD, path, flags, MODE(flags)); }
int openat(int d, const char *path, int flags, ...) { return opening("open", d, path, flags, MODE(flags)); }
int openat64(int d, const char *path, int flags, ...) { return opening("open", d, path, flags, MODE(flags)); }
