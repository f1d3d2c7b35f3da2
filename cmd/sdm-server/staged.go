package main

import (
	"os"
	"syscall"

	"sdm/launch/stage"
)

// runStaged becomes the copy of this program in node-local storage (--stage). It
// comes back when it is that, and when it cannot be had: the shared one does as well,
// and why is said with the first ranks.
func (o *options) runStaged(args, env []string) {
	if o.staged != "" && !o.perNode {
		o.unstage() // there is nobody else on this node
	}
	if o.stage == "" || o.staged != "" {
		return
	}
	self, err := os.Executable()
	if err == nil {
		var path string
		if path, err = stage.Put(self, o.stage, o.session, o.stageHash); err == nil {
			// Descriptors that our starter meant for the rank stay open.
			err = syscall.Exec(path, append([]string{args[0], "--staged", path}, args[1:]...), env)
			stage.Remove(path)
		}
	}
	o.unstaged = "--stage " + o.stage + ": " + err.Error() + "; the shared program is used"
}

// unstage takes the copy away as soon as nobody of this node will start it any
// more: what runs keeps it, and a process that is killed leaves nothing.
func (o *options) unstage() {
	if o.staged != "" {
		stage.Remove(o.staged)
	}
}
