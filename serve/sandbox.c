// sandbox.c - what the process may do. See sandbox.h.
#include "sandbox.h"
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- the user

static bool become(const char *name, char *why, size_t room)
{
    struct passwd *user = getpwnam(name);
    if (!user) return snprintf(why, room, "there is no user '%s'", name), false;
    if (initgroups(name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
        return snprintf(why, room, "cannot become the user '%s': %m", name), false;
    return setuid(0) || !user->pw_uid || (snprintf(why, room, "the user '%s' can become root again", name), false);
}

// ---- files: landlock

enum {
    READS  = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE,
    WRITES = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR,
    OTHERS = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
             LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM,
};

static void allow(int rules, const char *path, uint64_t access)
{
    struct stat                       info;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return;
    if (!fstat(rule.parent_fd, &info) && !S_ISDIR(info.st_mode))
        access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    rule.allowed_access = access;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

// A file is replaced by another of its name: its folder is what matters.
static void allow_models(int rules, const char *path)
{
    struct stat info;
    char       *folder = take_text(path), *slash = strrchr(folder, '/');
    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        allow(rules, path, READS);
    else if (slash)
        *slash = 0, allow(rules, *folder ? folder : "/", READS);
    else
        allow(rules, ".", READS);
    free(folder);
}

static const char *limit_files(const Options *o)
{
    static const char *const     readable[] = {"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"};
    struct landlock_ruleset_attr set        = {.handled_access_fs = READS | WRITES | OTHERS};
    const char                  *folder     = getenv("TMPDIR");
    int                          rules      = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof set, 0);
    if (rules < 0) return strerror(errno);
    for (int i = 0; i < SERVE_COUNT(readable); i++) allow(rules, readable[i], READS);
    for (int i = 0; i < o->path_count; i++) allow_models(rules, o->paths[i]);
    allow(rules, folder && *folder ? folder : "/tmp", READS | WRITES); // models that are compiled are kept there
    allow(rules, "/dev/null", READS | WRITES);
    if (o->shared_memory) allow(rules, "/dev/shm", READS | LANDLOCK_ACCESS_FS_WRITE_FILE);
    int failed = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return failed ? strerror(errno) : NULL;
}

// ---- calls of the system: seccomp

// What a server of models never does. Everything else is left to what libraries need.
static const int refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_userfaultfd,
    SYS_setns,
    SYS_unshare,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_personality,
    SYS_open_by_handle_at,
    SYS_io_uring_setup,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setresuid,
    SYS_setgroups,
    SYS_bind,
    SYS_listen,
};

#if defined __x86_64__
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#elif defined __aarch64__
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#else
enum { ARCHITECTURE = 0 };
#endif

static const char *limit_calls(void)
{
    struct sock_filter filter[SERVE_COUNT(refused) * 2 + 8];
    unsigned short     n = 0;
    if (ARCHITECTURE == 0) return "this machine is not known";
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ARCHITECTURE, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < SERVE_COUNT(refused); i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refused[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    filter[n++]               = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? strerror(errno) : NULL;
}

bool sandbox_enter(const Options *o, char *why, size_t room)
{
    if (o->user && !become(o->user, why, room)) return false;
    if (!geteuid()) journal(JOURNAL_WARNING, "root", "why", "the server runs as root: --user NAME gives that up", NULL);
    if (o->no_sandbox) return true;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return snprintf(why, room, "no_new_privs: %m"), false;
    const char *files = limit_files(o), *calls = limit_calls();
    journal(files || calls ? JOURNAL_WARNING : JOURNAL_INFO, "sandbox", "landlock", files ? files : "on", "seccomp",
            calls ? calls : "on", NULL);
    return true;
}
