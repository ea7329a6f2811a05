package storage

import (
	"reflect"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// Reprepared counts how often SQLite has prepared statements of this connection
// anew. The driver does not say, so this asks the library directly.
func (rx *Rx) Reprepared() (times int64, err error) {
	err = rx.Raw(func(driver any) error {
		conn := reflect.ValueOf(driver).Elem()
		private := func(name string) reflect.Value {
			field := conn.FieldByName(name)
			return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		}
		thread, db := private("tls"), private("db")
		next, status := reflect.ValueOf(sqlite3.Xsqlite3_next_stmt), reflect.ValueOf(sqlite3.Xsqlite3_stmt_status)
		reprepared, keep := reflect.ValueOf(int32(sqlite3.SQLITE_STMTSTATUS_REPREPARE)), reflect.ValueOf(int32(0))
		stmt := reflect.ValueOf(uintptr(0))
		for {
			if stmt = next.Call([]reflect.Value{thread, db, stmt})[0]; stmt.Uint() == 0 {
				return nil
			}
			times += status.Call([]reflect.Value{thread, stmt, reprepared, keep})[0].Int()
		}
	})
	return times, err
}
