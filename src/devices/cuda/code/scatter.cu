// scatter.cu - elements by lists of indices: ScatterElements, ScatterND, GatherND, OneHot.
//
// Updates of the same place must meet in their order, whoever comes first. So each place gets a list of its updates, in any order; a
// thread puts it in order; and then each element of the result goes through the list of its place.
#include "index_params.h"
#include "device.cuh"

INL int64_t index_at(const void *index, int64_t at, int bytes)
{
    return bytes == 8 ? ((const int64_t *)index)[at] : ((const int32_t *)index)[at];
}

// From the end if it is negative. False: it is out of range, which the status says.
INL bool index_fits(int64_t &at, int64_t limit, uint32_t *status)
{
    if (at < 0) at += limit;
    if (at >= 0 && at < limit) return true;
    *(volatile uint32_t *)status = 1;
    return false;
}

// The place of tuple t of `depth` numbers in [size[0]][size[1]]...
INL bool tuple_place(const void *index, int bytes, int64_t t, int depth, const int64_t *size, uint32_t *status, int64_t &place)
{
    place = 0;
    for (int d = 0; d < depth; d++) {
        int64_t at = index_at(index, t * depth + d, bytes);
        if (!index_fits(at, size[d], status)) return false;
        place = place * size[d] + at;
    }
    return true;
}

template <class T> INL void copy_one(void *to, int64_t to_at, const void *from, int64_t at)
{
    ((T *)to)[to_at] = ((const T *)from)[at];
}

INL void copy_unit(void *to, int64_t to_at, const void *from, int64_t at, int bytes)
{
    switch (bytes) {
    case 1: copy_one<uint8_t>(to, to_at, from, at); break;
    case 2: copy_one<uint16_t>(to, to_at, from, at); break;
    case 4: copy_one<uint32_t>(to, to_at, from, at); break;
    case 8: copy_one<uint64_t>(to, to_at, from, at); break;
    default: copy_one<uint4>(to, to_at, from, at); break;
    }
}

// ---- lists

INL bool scatter_place(const HoloCudaScatter &p, int64_t t, int64_t &place)
{
    if (p.axis < 0) return tuple_place(p.index, p.index_bytes, t, p.rank, p.size, p.status, place);
    int64_t at = index_at(p.index, t, p.index_bytes), left = t;
    place      = 0;
    if (!index_fits(at, p.limit, p.status)) return false;
    for (int d = p.rank - 1; d >= 0; d--) {
        int64_t next = left / p.size[d];
        place += (d == p.axis ? at : left - next * p.size[d]) * p.stride[d];
        left = next;
    }
    return true;
}

// A thread for each update.
extern "C" __global__ void __launch_bounds__(256) scatter_list(const __grid_constant__ HoloCudaScatter p)
{
    in_turn();
    int64_t t = thread_number(), place;
    if (t < p.count && scatter_place(p, t, place)) p.next[t] = atomicExch(&p.head[place], (int)t);
}

// By merging: runs of one, of two, of four ... The list has at least one update.
INL int list_order(int first, int32_t *next)
{
    for (int run = 1;; run *= 2) {
        int from = first, last = -1, merges = 0;
        for (; from >= 0; merges++) {
            int a = from, b = from, a_left = 0, b_left = run;
            while (a_left < run && b >= 0) a_left++, b = next[b];
            while (a_left || (b_left && b >= 0)) {
                bool is_a = a_left && (!b_left || b < 0 || a < b);
                int  take = is_a ? a : b;
                if (is_a)
                    a = next[a], a_left--;
                else
                    b = next[b], b_left--;
                if (last < 0)
                    first = take;
                else
                    next[last] = take;
                last = take;
            }
            from = b;
        }
        next[last] = -1;
        if (merges <= 1) return first;
    }
}

// A thread for each place.
extern "C" __global__ void __launch_bounds__(256) scatter_order(const __grid_constant__ HoloCudaScatter p)
{
    in_turn();
    int64_t place = thread_number();
    if (place >= p.places) return;
    int first = p.head[place];
    if (first >= 0 && p.next[first] >= 0) p.head[place] = list_order(first, p.next);
}

// ---- updates

// NaN wins over numbers.
template <class T> INL T meet(T x, T y, int how)
{
    switch (how) {
    case HOLO_CUDA_PUT_ADD: return x + y;
    case HOLO_CUDA_PUT_MUL: return x * y;
    case HOLO_CUDA_PUT_MIN: return x < y || x != x ? x : y;
    default: return x > y || x != x ? x : y;
    }
}

// Integers are added as unsigned ones, which may overflow.
INL int64_t meet_integers(int64_t x, int64_t y, int how)
{
    if (how == HOLO_CUDA_PUT_MIN || how == HOLO_CUDA_PUT_MAX) return meet<int64_t>(x, y, how);
    return (int64_t)meet<uint64_t>((uint64_t)x, (uint64_t)y, how);
}

// The last update of a place takes all: lists are in no order.
INL void scatter_last(const HoloCudaScatter &p, int64_t i, int64_t column, int t)
{
    int last = t;
    for (; t >= 0; t = p.next[t]) last = max(last, t);
    const void *from = last < 0 ? p.x : p.updates;
    int64_t     at   = last < 0 ? i : last * p.run + column;
    if (p.is_float)
        store_any(p.y, i, p.y_type, load_any(from, at, last < 0 ? p.x_type : p.update_type));
    else
        copy_unit(p.y, i, from, at, p.element);
}

// A thread for each element of the result.
extern "C" __global__ void __launch_bounds__(256) scatter(const __grid_constant__ HoloCudaScatter p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.places * p.run) return;
    int64_t place = i / p.run, column = i - place * p.run;
    int     t = p.head[place];
    if (p.how == HOLO_CUDA_PUT) {
        scatter_last(p, i, column, t);
    } else if (p.is_float) {
        float x = load_any(p.x, i, p.x_type);
        for (; t >= 0; t = p.next[t]) x = meet<float>(x, load_any(p.updates, t * p.run + column, p.update_type), p.how);
        store_any(p.y, i, p.y_type, x);
    } else {
        int64_t x = index_at(p.x, i, p.element);
        for (; t >= 0; t = p.next[t]) x = meet_integers(x, index_at(p.updates, t * p.run + column, p.element), p.how);
        if (p.element == 8)
            ((int64_t *)p.y)[i] = x;
        else
            ((int32_t *)p.y)[i] = (int32_t)x;
    }
}

// ---- lookups

extern "C" __global__ void __launch_bounds__(256) gather_tuples(const __grid_constant__ HoloCudaTuples p)
{
    in_turn();
    int64_t i = thread_number(), place;
    if (i >= p.count) return;
    int64_t tuple = i / p.run, unit = i - tuple * p.run;
    if (!tuple_place(p.index, p.index_bytes, tuple, p.depth, p.size, p.status, place)) place = 0;
    int64_t from = (tuple / p.tuples * p.places + place) * p.run + unit;
    if (p.converts)
        store_any(p.to, i, p.to_type, ((const float *)p.from)[from]);
    else
        copy_unit(p.to, i, p.from, from, p.unit);
}

extern "C" __global__ void __launch_bounds__(256) one_hot(const __grid_constant__ HoloCudaOneHot p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.count) return;
    int64_t row = i / p.inner, at = index_at(p.index, row / p.depth * p.inner + i - row * p.inner, p.index_bytes);
    if (at < 0) at += p.depth;
    int which = at == row % p.depth;
    if (p.is_float)
        store_any(p.to, i, p.to_type, load_any(p.values, which, p.value_type));
    else
        copy_unit(p.to, i, p.values, which, p.element);
}
