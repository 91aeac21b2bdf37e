# torch_test.sh - programs of torch.export and scripts: what they compute, what they keep, and what is refused.
. "$CHECKS"

python3 "$ROOT/tests/support/torch_files.py" made || exit 1

gives 0 'y f32[4, 2] = 2, 6.5, 11, 15.5, 4.25, 15.5, 26.75, 38' hologram run made/linear.pt2 -i x=1,2,3,4,5,6
gives 0 'y f32[4, 2] = 2, 6.5, 11, 15.5, 4.25, 15.5, 26.75, 38' hologram run made/linear_old.pt2 -i x=1,2,3,4,5,6
gives 0 's77' hologram inspect made/linear.pt2
gives 0 '2 to 16' hologram inspect made/linear.pt2
gives 0 'y f32[3] = 2, 4, 6' hologram run made/cond.pt2 -i x=1,2,3
gives 0 'y f32[3] = 1, 2, -3' hologram run made/cond.pt2 -i x=-1,-2,3
gives 0 'y f32[3] = 8, 16, 24' hologram run made/while.pt2 -i x=1,2,3 -i i=1
gives 0 'y f32[2, 3] = 1, 3, 6, 4, 9, 15' hologram run made/map.pt2 -i x=1,2,3,4,5,6
for scan in scan scan_old; do gives 0 'y f32[3, 2] = 20, 28, 26, 36, 36, 48' hologram run made/$scan.pt2 -i x=1,2,3,4,5,6; done
gives 1 'scan along another dimension than the first, or backwards' hologram inspect made/scan_back.pt2
gives 0 'y f32[2] = 5, 7' hologram run made/state.pt2 -i x=1,2
gives 0 'y f32[2] = 5, 7' hologram run made/inplace.pt2 -i x=1,2
gives 0 'f32[2] = 3, 7' hologram run made/loop.pt -i x=1,2 -i n=3 --input-shape x:2
gives 0 'f32[2] = 3, 6' hologram run made/default.pt -i x=1,2 --input-shape x:2
gives 0 'f32[2] = 12, 8' hologram run made/told.pt -i x=1,2,3 -i i=2,0 --input-shape x:3 --input-shape i:2
gives 0 'f32[3] = 15, 7.82843' hologram run made/fourier.pt -i x=1,2,3,4 --input-shape x:4
gives 0 'f32[2, 2] = 5, 0, 25, 0' hologram run made/complex.pt -i x=1,2,3,4 --input-shape x:2,2
gives 0 'f32[2] = 6, 7' hologram run made/counter.pt -i x=1,2 --input-shape x:2

gives 1 'aten::not_there version 1: 2 nodes' hologram compile made/unknown.pt2 -o out.holo
gives 1 'mylib::other version 1: 1 node' hologram compile made/unknown.pt2 -o out.holo
gives 1 'aten::not_there version 1: 2 nodes' hologram compile made/unknown.pt -o out.holo
gives 1 'code that AOTInductor compiled' hologram compile made/aoti.pt2 -o out.holo
gives 1 'torch.export.save' hologram compile made/aoti.pt2 -o out.holo
gives 1 '1 tensor, 0.0 MB: fc.weight f32[2,2]' hologram inspect made/state_dict.pth
gives 1 'torch.export.save' hologram compile made/state_dict.pth -o out.holo
gives 1 'too many steps' hologram compile made/forever.pt -o out.holo
gives 1 'calls itself' hologram compile made/deep.pt -o out.holo
gives 1 'line 7: the code cannot be read' hologram compile made/wrong.pt -o out.holo
