/* Reads and writes safetensors files: eight bytes with the length of a JSON header, the header, the tensors' bytes.
 * For little-endian machines.  Include it in one file; every function that can fail returns NULL or what is wrong. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 256, RANK = 8, NAME = 96 };

struct tensor {
    char name[NAME], type[8]; /* type: "F32", "F64", "I32", "I64", "U64", "F16", "BF16" */
    int rank;
    int64_t shape[RANK], bytes;
    void* data;
};

struct tensors {
    int count;
    char* data; /* of all that was read */
    struct tensor item[TENSORS];
};

static inline const struct tensor* tensors_find(const struct tensors* all, const char* name) {
    for (int i = 0; i < all->count; i++)
        if (!strcmp(all->item[i].name, name)) return &all->item[i];
    return NULL;
}

static inline void tensors_free(struct tensors* all) {
    free(all->data);
    *all = (struct tensors){0};
}

/* A place in the header, and whether everything before it was as it should be. */
struct cursor {
    const char *at, *end;
    int ok;
};

static inline int tensors_take(struct cursor* c, char wanted) {
    while (c->at < c->end && *c->at && strchr(" \t\r\n", *c->at)) c->at++;
    return c->ok && c->at < c->end && *c->at == wanted && c->at++;
}

static inline void tensors_need(struct cursor* c, char wanted) { c->ok &= tensors_take(c, wanted); }

/* A string without escapes: names and types need none. */
static inline void tensors_string(struct cursor* c, char* out, size_t size) {
    size_t length = 0;
    tensors_need(c, '"');
    for (; c->ok && c->at < c->end && *c->at != '"'; c->at++) {
        c->ok = *c->at != '\\' && *c->at && length + 1 < size;
        if (c->ok) out[length++] = *c->at;
    }
    out[length] = '\0';
    tensors_need(c, '"');
}

/* [1, 2, 3]: returns how many; below 2^56, so that sums and products by 8 fit. */
static inline int tensors_numbers(struct cursor* c, int64_t* out, int at_most) {
    int count = 0;
    tensors_need(c, '[');
    if (tensors_take(c, ']')) return 0;
    do {
        int64_t value = 0, digits = 0;
        for (tensors_take(c, '\0'); c->at < c->end && *c->at >= '0' && *c->at <= '9' && digits < 17; digits++, c->at++)
            value = value * 10 + (*c->at - '0');
        c->ok &= count < at_most && digits > 0 && value < (int64_t)1 << 56;
        if (c->ok) out[count++] = value;
    } while (tensors_take(c, ','));
    tensors_need(c, ']');
    return count;
}

/* Whether data lies where its type can be read, and has the bytes that type and shape ask for. */
static inline int tensors_fit(const struct tensor* t) {
    const int64_t width = !strcmp(t->type + 1, "32") ? 4 : !strcmp(t->type + 1, "64") ? 8 : 0;
    int64_t bytes = width;
    if (!width || !strchr("FIU", t->type[0])) return 0;
    for (int i = 0; i < t->rank && bytes <= t->bytes; bytes *= t->shape[i++])
        if (t->shape[i] > INT64_MAX / 8 / (bytes + 1)) return 0;
    return bytes == t->bytes && (uintptr_t)t->data % (uintptr_t)width == 0;
}

/* "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, the keys in any order. */
static inline void tensors_entry(struct cursor* c, struct tensor* t, char* data, int64_t size) {
    int64_t span[2] = {0, -1};
    char key[16];
    tensors_string(c, t->name, sizeof t->name);
    tensors_need(c, ':');
    tensors_need(c, '{');
    do {
        tensors_string(c, key, sizeof key);
        tensors_need(c, ':');
        if (!strcmp(key, "dtype")) tensors_string(c, t->type, sizeof t->type);
        else if (!strcmp(key, "shape")) t->rank = tensors_numbers(c, t->shape, RANK);
        else c->ok &= !strcmp(key, "data_offsets") && tensors_numbers(c, span, 2) == 2;
    } while (tensors_take(c, ','));
    tensors_need(c, '}');
    c->ok &= span[0] <= span[1] && span[1] <= size;
    t->bytes = span[1] - span[0];
    t->data = c->ok ? data + span[0] : NULL;
    c->ok &= tensors_fit(t);
}

static inline const char* tensors_read(const char* path, struct tensors* all) {
    uint64_t length = 0;
    *all = (struct tensors){0};
    FILE* const file = fopen(path, "rb");
    if (!file) return "cannot be opened";
    const int64_t size = fseek(file, 0, SEEK_END) ? -1 : ftell(file) - 8;
    rewind(file);
    const int whole = fread(&length, 8, 1, file) == 1 && size >= 0 && length <= (uint64_t)size;
    char* const header = whole ? malloc((size_t)length + 1) : NULL;
    all->data = whole ? malloc((size_t)size + 1) : NULL; /* apart from the header, so that it is aligned */
    struct cursor c = {header, header ? header + length : NULL, header && all->data};
    c.ok = c.ok && fread(header, 1, length, file) == length;
    c.ok = c.ok && fread(all->data, 1, (size_t)size, file) == (size_t)size - length;
    fclose(file);
    for (tensors_need(&c, '{'); c.ok && !tensors_take(&c, '}'); all->count++) {
        if (all->count) tensors_need(&c, ',');
        c.ok = c.ok && all->count < TENSORS;
        if (c.ok) tensors_entry(&c, &all->item[all->count], all->data, size - (int64_t)length);
        c.ok = c.ok && !tensors_find(all, all->item[all->count].name);
    }
    c.ok = c.ok && (tensors_take(&c, '\0'), c.at == c.end);
    free(header);
    if (!c.ok) tensors_free(all);
    return c.ok ? NULL : whole ? "has a header that is none of safetensors" : "is too short for its header";
}

static inline const char* tensors_write(const char* path, const struct tensors* all) {
    static char header[TENSORS * (NAME + 256)];
    int64_t at = 0, offset = 0;
    for (int i = 0; i < all->count; offset += all->item[i++].bytes) {
        const struct tensor* const t = &all->item[i];
        at += sprintf(header + at, "%c\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? ',' : '{', t->name, t->type);
        for (int d = 0; d < t->rank; d++) at += sprintf(header + at, d ? ",%lld" : "%lld", (long long)t->shape[d]);
        at += sprintf(header + at, "],\"data_offsets\":[%lld,%lld]}", (long long)offset, (long long)(offset + t->bytes));
    }
    at += sprintf(header + at, all->count ? "}" : "{}");
    while (at % 8) header[at++] = ' '; /* so that the tensors are aligned */
    FILE* const file = fopen(path, "wb");
    if (!file) return "cannot be created";
    int ok = fwrite(&at, 8, 1, file) == 1 && fwrite(header, (size_t)at, 1, file) == 1;
    for (int i = 0; i < all->count && ok; i++)
        ok = !all->item[i].bytes || fwrite(all->item[i].data, (size_t)all->item[i].bytes, 1, file) == 1;
    return fclose(file) == 0 && ok ? NULL : "cannot be written";
}
