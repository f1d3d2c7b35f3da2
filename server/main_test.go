package server

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"sdm/launch/local"
)

func TestMain(m *testing.M) {
	local.ShimMain(os.Args)
	goleak.VerifyTestMain(m)
}
