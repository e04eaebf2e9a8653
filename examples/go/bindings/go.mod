module assayer

go 1.18
