/* A wall clock that is off by as much as a file says; every other clock is left alone.
 *
 * Preloaded into the daemon. The file, which $WALL_CLOCK_FILE names, holds one 64-bit number of nanoseconds and
 * is mapped, so that a jump is seen at once and whole.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

static const volatile int64_t *offset_ns;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("WALL_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        abort();
    void *map = mmap(NULL, sizeof *offset_ns, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        abort();
    close(file);
    offset_ns = map;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    long failed = syscall(SYS_clock_gettime, clock, at);
    if (failed || offset_ns == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)failed;
    int64_t now_ns = at->tv_sec * SECOND_NS + at->tv_nsec + *offset_ns;
    at->tv_sec = now_ns / SECOND_NS;
    at->tv_nsec = now_ns % SECOND_NS;
    return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
