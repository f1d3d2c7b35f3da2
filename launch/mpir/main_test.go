package mpir

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	KeeperMain(os.Args)
	os.Exit(m.Run())
}
