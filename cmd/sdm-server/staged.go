package main

import (
	"os"
	"syscall"

	"sdm/launch/stage"
)

// runStaged replaces this process by its copy in node-local storage (--stage). It returns if this
// is the copy already, or if there can be none; then the shared program is used, and the reason is
// reported with the first ranks.
func (o *options) runStaged(args, env []string) {
	if o.staged != "" && !o.perNode {
		o.unstage() // no other process of this node starts it
	}
	if o.stage == "" || o.staged != "" {
		return
	}
	self, err := os.Executable()
	if err == nil {
		var path string
		if path, err = stage.Put(self, o.stage, o.session, o.stageHash); err == nil {
			// Descriptors that the starter meant for the rank stay open.
			err = syscall.Exec(path, append([]string{args[0], "--staged", path}, args[1:]...), env)
			stage.Remove(path)
		}
	}
	o.unstaged = "--stage " + o.stage + ": " + err.Error() + "; the shared program is used"
}

// unstage removes the copy. It is called as soon as no further process of this node will start it.
// Running processes keep the file open, and no copy remains if one of them is killed.
func (o *options) unstage() {
	if o.staged != "" {
		stage.Remove(o.staged)
	}
}
