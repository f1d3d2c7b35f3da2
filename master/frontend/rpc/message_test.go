package rpc

import "testing"

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"print","params":{"expr":"n","ranks":"0-3","wait":"2s"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"continue"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"x","data":{"kind":"usage","message":"y"}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, bad := decode(in)
		if bad != nil {
			return
		}
		var p callParams
		if readParams(m.Params, &p) == nil {
			p.call(m.Method)
		}
		var s Setup
		if readParams(m.Params, &s) == nil {
			_ = s.Validate()
		}
		if _, bad := decode(encode(m)); bad != nil {
			t.Fatalf("%s cannot be read back: %v", encode(m), bad)
		}
	})
}
