// What logout does to processes of the user.

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Whether a live session outlives the logout of its user. systemd-logind puts each login into a scope, a control group
// (logind.conf(5), KillUserProcesses); what the user's own service manager has started ends with the last login, unless
// the user lingers (loginctl(1), enable-linger).

var (
	loginScope  = regexp.MustCompile(`/session-[^/]+\.scope(/|$)`)
	userManager = regexp.MustCompile(`/user@[0-9]+\.service(/|$)`)
)

// logout checks what logout does to processes that are started from here.
func (m Machine) logout(ctx context.Context) []Finding {
	f := Finding{Check: "logout", Grade: Good}
	groups := m.read("/proc/self/cgroup")
	inLogin, inManager := anyLine(groups, loginScope), anyLine(groups, userManager)
	if !inLogin && !inManager {
		f.Grade, f.Found = Absent, "this shell is in no login of systemd: no logout kills what it starts"
		return []Finding{f}
	}
	user := fmt.Sprint(os.Geteuid())
	name, lingers := m.loginUser(ctx, user)
	manager := m.loginManager(ctx)
	kills := isYes(manager["KillUserProcesses"]) && mayKill(manager, cmp.Or(name, user), user)
	const outlive = "for sessions that outlive it: systemd-run --user --scope sdm run …"
	switch {
	case inManager && lingers:
		f.Found = "kills no process: this shell belongs to your service manager, and you linger"
	case inManager:
		f.Grade, f.Found = Warning, "your last logout kills sessions, since this shell belongs to your service manager"
		f.Hint = "loginctl enable-linger, once"
	case !kills && manager["KillUserProcesses"] == "":
		f.Grade, f.Found = Warning, "systemd does not tell whether it kills processes (KillUserProcesses)"
		f.Hint = "loginctl enable-linger, once; then, " + outlive
	case !kills:
		f.Found = "kills no process (KillUserProcesses)"
	case lingers:
		f.Grade, f.Found = Warning, "kills sessions that this shell starts (KillUserProcesses=yes); you linger"
		f.Hint = outlive
	default:
		f.Grade, f.Found = Warning, "kills sessions that this shell starts (KillUserProcesses=yes)"
		f.Hint = "loginctl enable-linger, once; then, " + outlive
	}
	return []Finding{f}
}

// anyLine reports whether the control group of this process in some hierarchy matches (cgroups(7), /proc/PID/cgroup).
func anyLine(groups string, pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(strings.Split(groups, "\n"), pattern.MatchString)
}

// loginUser returns what logind knows of a user.
func (m Machine) loginUser(ctx context.Context, uid string) (name string, lingers bool) {
	known := m.askLogind(ctx, "show-user", uid, "-p", "Name", "-p", "Linger")
	return known["Name"], isYes(known["Linger"])
}

// loginManager returns the settings of logind: as it tells them, or else as they are in its files. Without either they
// are those with which it was made, which the distribution shows in a comment of the main file.
func (m Machine) loginManager(ctx context.Context) map[string]string {
	told := m.askLogind(ctx, "show-session", "-p", "KillUserProcesses", "-p", "KillOnlyUsers", "-p", "KillExcludeUsers")
	if told["KillUserProcesses"] != "" {
		return told
	}
	settings := map[string]string{}
	for _, path := range m.logindFiles() {
		for line := range strings.Lines(m.read(path)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if name == "#KillUserProcesses" && settings["KillUserProcesses"] == "" {
				name = "KillUserProcesses"
			}
			settings[name] = value
		}
	}
	return settings
}

// logindFiles returns the files of settings in the order in which they count (logind.conf(5)): the first main file that
// there is, then all drop-ins by name; each counts in the first directory that has it.
func (m Machine) logindFiles() (files []string) {
	dropIns := map[string]string{}
	for _, dir := range []string{"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"} {
		if main := m.glob(filepath.Join(dir, "logind.conf")); len(files) == 0 {
			files = main
		}
		for _, path := range m.glob(filepath.Join(dir, "logind.conf.d", "*.conf")) {
			if name := filepath.Base(path); dropIns[name] == "" {
				dropIns[name] = path
			}
		}
	}
	names := make([]string, 0, len(dropIns))
	for name := range dropIns {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		files = append(files, dropIns[name])
	}
	return files
}

// askLogind returns properties that loginctl shows, one NAME=VALUE a line; none if there is no logind.
func (m Machine) askLogind(ctx context.Context, args ...string) map[string]string {
	path, err := m.find("loginctl")
	if err != nil {
		return nil
	}
	text, err := m.ask(ctx, path, args...)
	if err != nil {
		return nil
	}
	shown := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			shown[name] = value
		}
	}
	return shown
}

// mayKill reports whether KillUserProcesses is meant for a user, who may be named or numbered in the lists of users
// (logind.conf(5), KillOnlyUsers and KillExcludeUsers: root is excluded unless it is given).
func mayKill(settings map[string]string, name, uid string) bool {
	excluded, given := settings["KillExcludeUsers"]
	if !given {
		excluded = "root 0"
	}
	has := func(list string) bool {
		return slices.ContainsFunc(strings.Fields(list), func(user string) bool { return user == name || user == uid })
	}
	only := settings["KillOnlyUsers"]
	return !has(excluded) && (only == "" || has(only))
}

// isYes reads a boolean of systemd (systemd.syntax(7)).
func isYes(value string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t", "on"}, strings.ToLower(value))
}
