/* Makes file operations of a process fail, stop short, or be its last ones; or records them.
 *
 * Loaded by LD_PRELOAD. Counts the operations on files below the folders in KB_SHIM_ROOTS (separated by
 * colons) and follows these variables:
 *
 *   KB_SHIM_FAULT   "N:KIND": the fault at the N-th operation. KIND is an error (eio, enospc, emfile,
 *                   with a + at the end: from then on), short (half of the bytes are read or written),
 *                   before, half, after (the process is killed there).
 *   KB_SHIM_TRACE   a file that gets one line per operation, or with a fault only the line of the operation it hit.
 *   KB_SHIM_RECORD  a file that gets every change with its bytes, for tests/faults/power.py.
 *   KB_SHIM_NO_MMAP set: files are read, not mapped, so that every read can fail.
 *
 * Only the process itself is affected, not those that it starts. Calls that bypass the C library are not
 * counted; that is why Cargo.toml makes `rustix` go through it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, RMDIR, LINK, MAP };
static const char *const NAMES[] = {"open",   "read",  "write", "sync", "truncate", "rename",
                                    "unlink", "mkdir", "rmdir", "link", "map"};
enum fault { NONE, FAIL, SHORT, BEFORE, HALF, AFTER };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *roots;
static int trace = -1, record = -1, no_mmap, error_code, goes_on;
static long count, fault_at;
static enum fault fault;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void put(int fd, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length) {
        ssize_t written = syscall(SYS_write, fd, at, length);
        if (written <= 0) abort();
        at += written, length -= written;
    }
}

static int log_file(const char *variable) {
    const char *path = getenv(variable);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int fd = path ? syscall(SYS_openat, AT_FDCWD, path, flags, 0600) : -1;
    /* A high number, because some programs close low ones. */
    int high = fd < 0 ? -1 : syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
    if (fd >= 0) syscall(SYS_close, fd);
    return high;
}

__attribute__((constructor)) static void start(void) {
    unsetenv("LD_PRELOAD");
    roots = getenv("KB_SHIM_ROOTS");
    trace = log_file("KB_SHIM_TRACE");
    record = log_file("KB_SHIM_RECORD");
    no_mmap = getenv("KB_SHIM_NO_MMAP") != NULL;
    const char *wanted = getenv("KB_SHIM_FAULT");
    const char *kind = wanted ? strchr(wanted, ':') : NULL;
    if (!kind) return;
    fault_at = atol(wanted);
    goes_on = kind[strlen(kind) - 1] == '+';
    static const struct { const char *name; enum fault fault; int code; } KINDS[] = {
        {"eio", FAIL, EIO}, {"enospc", FAIL, ENOSPC}, {"emfile", FAIL, EMFILE}, {"short", SHORT, 0},
        {"before", BEFORE, 0}, {"half", HALF, 0}, {"after", AFTER, 0}};
    for (size_t at = 0; at < sizeof KINDS / sizeof *KINDS; at++)
        if (!strncmp(kind + 1, KINDS[at].name, strlen(KINDS[at].name)))
            fault = KINDS[at].fault, error_code = KINDS[at].code;
}

static int is_below(const char *path) {
    for (const char *at = roots; at && *at;) {
        const char *end = strchrnul(at, ':');
        size_t length = end - at;
        if (!strncmp(path, at, length) && (path[length] == '/' || !path[length])) return 1;
        at = *end ? end + 1 : end;
    }
    return 0;
}

/* Returns the path of an open file; false if the file is not counted. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Returns the absolute path of a name passed to a call; false if the file is not counted. */
static int path_at(int folder, const char *name, char *path) {
    if (!roots || !name) return 0;
    if (*name == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return is_below(path);
    }
    char start[PATH_MAX] = "";
    if (folder == AT_FDCWD) {
        if (!getcwd(start, sizeof start)) return 0;
    } else {
        path_of(folder, start);
    }
    if (snprintf(path, PATH_MAX, "%s/%s", start, name) >= PATH_MAX) return 0;
    return is_below(path);
}

static int fits(enum kind kind) {
    if (fault != FAIL) return fault != SHORT || kind == READ || kind == WRITE;
    if (error_code == EMFILE) return kind == OPEN;
    if (error_code == ENOSPC) return kind != READ && kind != MAP && kind != UNLINK && kind != RMDIR;
    return 1;
}

static void note(enum kind kind, const char *path) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", count, NAMES[kind], path);
    put(trace, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

/* Counts an operation and returns its fault, if any. The lock is held until `done`. */
static enum fault begin(enum kind kind, const char *path) {
    pthread_mutex_lock(&lock);
    count++;
    int is_hit = fault != NONE && fits(kind) && count >= fault_at;
    if (trace >= 0 && (fault == NONE || is_hit)) note(kind, path);
    if (!is_hit) return NONE;
    enum fault now = fault;
    if (!goes_on) fault = NONE;
    if (now == BEFORE || (now == HALF && kind != WRITE)) die();
    if (now == FAIL) errno = error_code;
    return now;
}

static void done(enum fault now) {
    int saved = errno;
    if (now == AFTER || now == HALF) die();
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- The record: one block per change, read by tests/faults/power.py. ---- */

struct head {
    uint32_t kind, path_length, other_length, length;
    uint64_t inode, offset;
};

static void keep(char kind, const char *path, const char *other, uint64_t inode, uint64_t offset,
                 const void *bytes, size_t length) {
    if (record < 0) return;
    int saved = errno;
    struct head head = {kind, strlen(path), other ? strlen(other) : 0, length, inode, offset};
    put(record, &head, sizeof head);
    put(record, path, head.path_length);
    put(record, other, head.other_length);
    put(record, bytes, length);
    errno = saved;
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

static uint64_t inode_at(const char *path) {
    struct stat found;
    return lstat(path, &found) ? 0 : found.st_ino;
}

/* ---- Opening. ---- */

static int open_any(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!path_at(folder, name, path)) return syscall(SYS_openat, folder, name, flags, mode);
    enum fault now = begin(OPEN, path);
    if (now == FAIL) return done(now), -1;
    int is_new = (flags & O_CREAT) && !inode_at(path);
    int fd = syscall(SYS_openat, folder, name, flags, mode);
    if (fd >= 0 && is_new) keep('C', path, NULL, inode_of(fd), 0, NULL, 0);
    if (fd >= 0 && !is_new && (flags & O_TRUNC)) keep('T', path, NULL, inode_of(fd), 0, NULL, 0);
    done(now);
    return fd;
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENER(name, before, folder) \
    int name before { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return open_any(folder, path, flags, mode); \
    }
OPENER(open, (const char *path, int flags, ...), AT_FDCWD)
OPENER(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENER(openat, (int folder, const char *path, int flags, ...), folder)
OPENER(openat64, (int folder, const char *path, int flags, ...), folder)

/* The C library has no function for openat2: it arrives here, with all other system calls. */
long syscall(long number, ...) {
    REAL(syscall);
    va_list rest;
    long of[6];
    va_start(rest, number);
    for (int at = 0; at < 6; at++) of[at] = va_arg(rest, long);
    va_end(rest);
    char path[PATH_MAX];
    int counts = number == SYS_openat2 && path_at((int)of[0], (const char *)of[1], path);
    /* kb makes no counted call this way. */
    enum fault now = counts ? begin(OPEN, path) : NONE;
    long outcome = now == FAIL ? -1 : real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    if (counts) done(now);
    return outcome;
}

/* ---- Reading. ---- */

#define READER(name, parameters, arguments, half) \
    ssize_t name parameters { \
        REAL(name); \
        char path[PATH_MAX]; \
        if (!roots || !path_of(fd, path)) return real arguments; \
        enum fault now = begin(READ, path); \
        ssize_t got = now == FAIL ? -1 : now == SHORT ? half : real arguments; \
        done(now); \
        return got; \
    }
#define SOME(length) ((length) > 1 ? (length) / 2 : (length))
READER(read, (int fd, void *to, size_t length), (fd, to, length), real(fd, to, SOME(length)))
READER(pread, (int fd, void *to, size_t length, off_t at), (fd, to, length, at),
       real(fd, to, SOME(length), at))
READER(pread64, (int fd, void *to, size_t length, off64_t at), (fd, to, length, at),
       real(fd, to, SOME(length), at))
READER(readv, (int fd, const struct iovec *to, int parts), (fd, to, parts), real(fd, to, SOME(parts)))

/* ---- Writing. ---- */

static ssize_t write_any(int fd, const char *path, const void *from, size_t length, off64_t at,
                         int has_place) {
    enum fault now = begin(WRITE, path);
    if (now == FAIL) return done(now), -1;
    if (now == SHORT || now == HALF) length = SOME(length);
    uint64_t place = at;
    if (!has_place) {
        int flags = syscall(SYS_fcntl, fd, F_GETFL);
        struct stat found;
        place = flags & O_APPEND && !fstat(fd, &found) ? (uint64_t)found.st_size
                                                       : (uint64_t)lseek(fd, 0, SEEK_CUR);
    }
    ssize_t written = has_place ? syscall(SYS_pwrite64, fd, from, length, at)
                                : syscall(SYS_write, fd, from, length);
    if (written > 0) keep('W', path, NULL, inode_of(fd), place, from, written);
    done(now);
    return written;
}

ssize_t write(int fd, const void *from, size_t length) {
    char path[PATH_MAX];
    if (!roots || !path_of(fd, path)) return syscall(SYS_write, fd, from, length);
    return write_any(fd, path, from, length, 0, 0);
}

ssize_t pwrite64(int fd, const void *from, size_t length, off64_t at) {
    char path[PATH_MAX];
    if (!roots || !path_of(fd, path)) return syscall(SYS_pwrite64, fd, from, length, at);
    return write_any(fd, path, from, length, at, 1);
}

ssize_t pwrite(int fd, const void *from, size_t length, off_t at) {
    return pwrite64(fd, from, length, at);
}

/* One part at a time: callers continue where a short write ended. */
ssize_t writev(int fd, const struct iovec *from, int parts) {
    char path[PATH_MAX];
    if (!roots || !path_of(fd, path)) return syscall(SYS_writev, fd, from, parts);
    for (int at = 0; at < parts; at++)
        if (from[at].iov_len) return write_any(fd, path, from[at].iov_base, from[at].iov_len, 0, 0);
    return 0;
}

ssize_t pwritev(int fd, const struct iovec *from, int parts, off_t place) {
    char path[PATH_MAX];
    if (!roots || !path_of(fd, path)) return syscall(SYS_pwritev, fd, from, parts, place, 0);
    for (int at = 0; at < parts; at++)
        if (from[at].iov_len)
            return write_any(fd, path, from[at].iov_base, from[at].iov_len, place, 1);
    return 0;
}

/* The kernel copies files without passing them through the process. Here they do, so each part counts. */
static ssize_t copy_any(int to, off64_t *to_at, int from, off64_t *from_at, size_t length) {
    static __thread char bytes[1 << 16];
    if (length > sizeof bytes) length = sizeof bytes;
    ssize_t got = from_at ? pread64(from, bytes, length, *from_at) : read(from, bytes, length);
    if (got <= 0) return got;
    ssize_t written = to_at ? pwrite64(to, bytes, got, *to_at) : write(to, bytes, got);
    if (written < 0) written = 0;
    if (from_at) *from_at += written;
    else if (written < got) lseek(from, written - got, SEEK_CUR);
    if (to_at) *to_at += written;
    return written ? written : -1;
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (!roots || !path_of(to, path))
        return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
    return copy_any(to, to_at, from, from_at, length);
}

ssize_t sendfile64(int to, int from, off64_t *from_at, size_t length) {
    char path[PATH_MAX];
    if (!roots || !path_of(to, path)) return syscall(SYS_sendfile, to, from, from_at, length);
    return copy_any(to, NULL, from, from_at, length);
}

ssize_t sendfile(int to, int from, off_t *from_at, size_t length) {
    return sendfile64(to, from, from_at, length);
}

/* ---- The rest: one operation, one record. ---- */

#define ON_FILE(name, parameters, arguments, kind, recorded, size) \
    int name parameters { \
        REAL(name); \
        char path[PATH_MAX]; \
        if (!roots || !path_of(fd, path)) return real arguments; \
        enum fault now = begin(kind, path); \
        int outcome = now == FAIL ? -1 : real arguments; \
        if (!outcome) keep(recorded, path, NULL, inode_of(fd), size, NULL, 0); \
        done(now); \
        return outcome; \
    }
ON_FILE(fsync, (int fd), (fd), SYNC, 'S', 0)
ON_FILE(fdatasync, (int fd), (fd), SYNC, 'S', 0)
ON_FILE(ftruncate, (int fd, off_t size), (fd, size), TRUNCATE, 'T', size)
ON_FILE(ftruncate64, (int fd, off64_t size), (fd, size), TRUNCATE, 'T', size)

static int name_any(enum kind kind, char recorded, int folder, const char *name, int call, long extra) {
    char path[PATH_MAX];
    int counts = path_at(folder, name, path);
    enum fault now = counts ? begin(kind, path) : NONE;
    int outcome = now == FAIL ? -1 : (int)syscall(call, folder, name, extra);
    if (counts && !outcome) keep(recorded, path, NULL, inode_at(path), 0, NULL, 0);
    if (counts) done(now);
    return outcome;
}

int unlink(const char *name) { return name_any(UNLINK, 'U', AT_FDCWD, name, SYS_unlinkat, 0); }
int rmdir(const char *name) { return name_any(RMDIR, 'D', AT_FDCWD, name, SYS_unlinkat, AT_REMOVEDIR); }
int mkdir(const char *name, mode_t mode) { return name_any(MKDIR, 'M', AT_FDCWD, name, SYS_mkdirat, mode); }
int mkdirat(int folder, const char *name, mode_t mode) {
    return name_any(MKDIR, 'M', folder, name, SYS_mkdirat, mode);
}
int unlinkat(int folder, const char *name, int flags) {
    int is_folder = flags & AT_REMOVEDIR;
    return name_any(is_folder ? RMDIR : UNLINK, is_folder ? 'D' : 'U', folder, name, SYS_unlinkat, flags);
}

static int rename_any(int folder, const char *name, int other, const char *to, unsigned flags) {
    char path[PATH_MAX], target[PATH_MAX];
    int counts = path_at(folder, name, path) | path_at(other, to, target);
    enum fault now = counts ? begin(RENAME, path) : NONE;
    int outcome = now == FAIL ? -1 : (int)syscall(SYS_renameat2, folder, name, other, to, flags);
    if (counts && !outcome) keep(flags & RENAME_EXCHANGE ? 'E' : 'R', path, target, 0, 0, NULL, 0);
    if (counts) done(now);
    return outcome;
}

int rename(const char *name, const char *to) { return rename_any(AT_FDCWD, name, AT_FDCWD, to, 0); }
int renameat(int folder, const char *name, int other, const char *to) {
    return rename_any(folder, name, other, to, 0);
}
int renameat2(int folder, const char *name, int other, const char *to, unsigned flags) {
    return rename_any(folder, name, other, to, flags);
}

int linkat(int folder, const char *name, int other, const char *to, int flags) {
    char path[PATH_MAX], target[PATH_MAX];
    int counts = path_at(folder, name, path) | path_at(other, to, target);
    enum fault now = counts ? begin(LINK, path) : NONE;
    int outcome = now == FAIL ? -1 : (int)syscall(SYS_linkat, folder, name, other, to, flags);
    if (counts && !outcome) keep('L', path, target, 0, 0, NULL, 0);
    if (counts) done(now);
    return outcome;
}
int link(const char *name, const char *to) { return linkat(AT_FDCWD, name, AT_FDCWD, to, 0); }

int symlinkat(const char *text, int folder, const char *name) {
    char path[PATH_MAX];
    int counts = path_at(folder, name, path);
    enum fault now = counts ? begin(LINK, path) : NONE;
    int outcome = now == FAIL ? -1 : (int)syscall(SYS_symlinkat, text, folder, name);
    if (counts && !outcome) keep('Y', path, text, 0, 0, NULL, 0);
    if (counts) done(now);
    return outcome;
}
int symlink(const char *text, const char *name) { return symlinkat(text, AT_FDCWD, name); }

#define MAPPER(name, offset) \
    void *name(void *address, size_t length, int protection, int flags, int fd, offset at) { \
        REAL(name); \
        char path[PATH_MAX]; \
        if (!roots || fd < 0 || !path_of(fd, path)) \
            return real(address, length, protection, flags, fd, at); \
        if (no_mmap && !(protection & PROT_WRITE)) return errno = ENOMEM, MAP_FAILED; \
        enum fault now = begin(MAP, path); \
        void *outcome = MAP_FAILED; \
        if (now != FAIL) outcome = real(address, length, protection, flags, fd, at); \
        done(now); \
        return outcome; \
    }
MAPPER(mmap, off_t)
MAPPER(mmap64, off64_t)
