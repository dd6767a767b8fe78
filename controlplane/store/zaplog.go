package store

import (
	"context"
	"log/slog"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newZap returns a zap logger that hands etcd's lines from warning up to log. etcd takes no other
// logger, and must not be silenced altogether: it ends the process through a fatal line.
func newZap(log *slog.Logger) *zap.Logger {
	return zap.New(&slogCore{log: log.With("component", "etcd")})
}

// slogCore is a zapcore.Core over slog.
type slogCore struct {
	log *slog.Logger
}

func slogLevel(l zapcore.Level) slog.Level {
	if l >= zapcore.ErrorLevel {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// Enabled implements zapcore.LevelEnabler.
func (c *slogCore) Enabled(l zapcore.Level) bool {
	return l >= zapcore.WarnLevel && c.log.Enabled(context.Background(), slogLevel(l))
}

// With implements zapcore.Core.
func (c *slogCore) With(fields []zapcore.Field) zapcore.Core {
	return &slogCore{log: slog.New(c.log.Handler().WithAttrs(attrsOf(fields)))}
}

// Check implements zapcore.Core.
func (c *slogCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write implements zapcore.Core.
func (c *slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if expected(e.Message) {
		return nil
	}
	c.log.LogAttrs(context.Background(), slogLevel(e.Level), e.Message, attrsOf(fields)...)
	return nil
}

// Sync implements zapcore.Core.
func (c *slogCore) Sync() error { return nil }

// expectedLines start lines that an embedded single member writes in good health.
var expectedLines = []string{
	"Running http and grpc server on single port",  // it serves no port at all
	"simple token is not cryptographically signed", // about etcd's own users, of which there are none
	"Failed to detect schema version",              // the first start, before the first write
	"failed to update storage version",             // the same
	"server has stopped; skipping GoAttach",        // a stop during the first seconds
}

func expected(message string) bool {
	for _, l := range expectedLines {
		if strings.HasPrefix(message, l) {
			return true
		}
	}
	return false
}

func attrsOf(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	attrs := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		if v, ok := enc.Fields[f.Key]; ok {
			attrs = append(attrs, slog.Any(f.Key, v))
		}
	}
	return attrs
}
