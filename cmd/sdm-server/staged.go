// Runs the server from a copy in node-local storage.

package main

import (
	"os"

	"sdm/launch/secret"
	"sdm/launch/stage"
	"sdm/tree/overlay"
)

// runStaged replaces this process by its copy in node-local storage (--stage). It returns if this
// is the copy already, or if there can be none; then the shared program is used, and the reason is
// reported with the first ranks.
func (o *options) runStaged(args, env []string) {
	if o.staged != "" {
		if err := stage.Settle("sdm-server"); err != nil {
			o.unstaged = "--stage: " + err.Error()
		}
		if !o.perNode {
			o.unstage() // no other process of this node starts it
		}
	}
	if o.stage == "" || o.staged != "" {
		return
	}
	self, err := os.Executable()
	if err == nil {
		var p *stage.Program
		if p, err = stage.Put(self, o.stage, o.stageName(), o.stageHash); err == nil {
			// Descriptors that the starter meant for the rank stay open.
			err = p.Exec(append([]string{args[0], "--staged", p.Path}, args[1:]...), env)
			stage.Remove(p.Path)
		}
	}
	o.unstaged = "--stage " + o.stage + ": " + err.Error() + "; the shared program is used"
}

// stageName returns the name of the directory of the copy: the same for all servers of the session on
// this host. Without a secret that can be read twice the copy is for this process alone.
func (o *options) stageName() string {
	host, _ := os.Hostname()
	read := secret.User
	if o.secretFile != "" {
		read = func() (secret.Key, error) { return secret.File(o.secretFile) }
	}
	if key, err := read(); err == nil && o.secretFD < 0 {
		session := overlay.Secret(key).ForSession(o.session)
		return stage.Name(session[:], host)
	}
	return stage.Name(nil, host)
}

// unstage removes the copy. It is called as soon as no further process of this node will start it.
// Running processes keep the file open, and no copy remains if one of them is killed.
func (o *options) unstage() {
	if o.staged != "" {
		stage.Remove(o.staged)
	}
}
