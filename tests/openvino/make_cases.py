#!/usr/bin/env python3
"""Makes cases.json: layers of OpenVINO with small inputs, and answers by the documentation of its operators. Needs PyTorch.

usage: make_cases.py > cases.json
"""
import json
import math

import torch
import torch.nn.functional as F

torch.manual_seed(0)
TYPES = {torch.float32: "f32", torch.int64: "i64", torch.int32: "i32", torch.bool: "boolean", torch.uint8: "u8", torch.int8: "i8", torch.float64: "f64"}
CASES = []


def R(*s):
    return (torch.randn(*s) * 100).round() / 100


def T(*v):
    return torch.tensor(list(v))


def tensor(t):
    values = t.flatten().tolist()
    values = [float(f"{v:.7g}") if isinstance(v, float) else v for v in values]
    return {"type": TYPES[t.dtype], "shape": list(t.shape), "data": [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in values]}


class K:  # a constant
    def __init__(self, t):
        self.t = t if isinstance(t, torch.Tensor) else torch.tensor(t)


def case(type, ins, outs, opset=1, **attrs):
    rows = [{**tensor(t.t if isinstance(t, K) else t), "const": isinstance(t, K)} for t in ins]
    outs = outs if isinstance(outs, (list, tuple)) else [outs]
    words = {k.replace("__", "-"): (",".join(map(str, v)) if isinstance(v, (list, tuple)) else str(v).lower() if isinstance(v, bool) else v) for k, v in attrs.items()}
    CASES.append({"name": f"{type}_{sum(c['type'] == type for c in CASES)}", "type": type, "opset": opset, "attrs": words, "ins": rows, "outs": [tensor(o) for o in outs]})


# fmt: off
x=R(2,3,4); y=R(2,3,4); v=R(4); p=R(2,3).abs()+.5; u=torch.rand(2,3)*.8+.1; i=torch.randint(-5,9,(2,3)); j=torch.randint(1,4,(2,3)); b=x>0; im=R(1,2,5,6)
for n,f,a in [("Abs",torch.abs,x),("Acos",torch.acos,u),("Acosh",torch.acosh,p+1),("Asin",torch.asin,u),("Asinh",torch.asinh,x),("Atan",torch.atan,x),("Atanh",torch.atanh,u),("Ceiling",torch.ceil,x),("Cos",torch.cos,x),("Cosh",torch.cosh,x),("Erf",torch.erf,x),("Exp",torch.exp,x),("Floor",torch.floor,x),("Log",torch.log,p),("Negative",torch.neg,x),("ReLU",torch.relu,x),("Sigmoid",torch.sigmoid,x),("Sign",torch.sign,x),("Sin",torch.sin,x),("Sinh",torch.sinh,x),("SoftPlus",F.softplus,x),("SoftSign",F.softsign,x),("Sqrt",torch.sqrt,p),("Tan",torch.tan,u),("Tanh",torch.tanh,x),("Mish",F.mish,x),("HSwish",F.hardswish,x*4),("HSigmoid",F.hardsigmoid,x*4),("Round",torch.round,x*5)]: case(n,[a],f(a))
case("LogicalNot",[b],~b); case("Identity",[x],x); case("Elu",[x],F.elu(x,.5),alpha=.5); case("Clamp",[x],x.clamp(-.5,.7),min=-.5,max=.7); case("Clamp",[i],i.clamp(-1,3),min=-1.5,max=3.7); case("Swish",[x],F.silu(x),opset=4); case("Swish",[x,K(2.)],x*torch.sigmoid(2*x),opset=4)
case("HardSigmoid",[x,K(.3),K(.4)],(x*.3+.4).clamp(0,1)); case("Selu",[x,K(1.5),K(1.1)],1.1*torch.where(x>0,x,1.5*(x.exp()-1))); case("PReLU",[im,K(T(.1,.5))],F.prelu(im,T(.1,.5))); case("Gelu",[x],F.gelu(x),opset=7,approximation_mode="ERF"); case("Gelu",[x],F.gelu(x,approximate='tanh'),opset=7,approximation_mode="TANH")
h=T(-2.5,-1.5,-.5,.5,1.5,2.5,2.4); case("Round",[h],torch.round(h),opset=5,mode="half_to_even"); case("Round",[h],torch.sign(h)*torch.floor(h.abs()+.5),opset=5,mode="half_away_from_zero")
z=T(1.,float('nan'),float('inf'),-float('inf')); case("IsNaN",[K(z)],z.isnan(),opset=10); case("IsFinite",[K(z)],z.isfinite(),opset=10); case("IsInf",[K(z)],z==float('inf'),opset=10,detect_negative=False)
for n,f in [("Add",torch.add),("Subtract",torch.sub),("Multiply",torch.mul),("Divide",torch.div),("Maximum",torch.maximum),("Minimum",torch.minimum),("SquaredDifference",lambda a,c:(a-c)**2),("Less",torch.lt),("LessEqual",torch.le),("Greater",torch.gt),("GreaterEqual",torch.ge),("Mod",torch.fmod),("FloorMod",torch.remainder)]: case(n,[x,y[:1]],f(x,y[:1]))
case("Power",[p,K(2.5)],p**2.5); case("Equal",[i,j],i==j); case("NotEqual",[i,j],i!=j); case("Divide",[i,j],torch.div(i,j,rounding_mode='floor'),m_pythondiv=True); case("Divide",[i,j],torch.div(i,j,rounding_mode='trunc'),m_pythondiv=False); case("Mod",[i,j],torch.fmod(i,j)); case("FloorMod",[i,j],torch.remainder(i,j));
w2=R(2); case("Add",[im,K(w2)],im+w2[None,:,None,None],auto_broadcast="pdpd",axis=1)
case("LogicalAnd",[b,y>0],b&(y>0)); case("LogicalOr",[b,y>0],b|(y>0)); case("LogicalXor",[b,y>0],b^(y>0)); ip=j*5; case("BitwiseAnd",[ip,j],ip&j,opset=13); case("BitwiseOr",[ip,j],ip|j,opset=13); case("BitwiseXor",[ip,j],ip^j,opset=13); case("BitwiseNot",[ip],~ip,opset=13); case("BitwiseLeftShift",[ip.to(torch.uint8),j.to(torch.uint8)],(ip<<j).to(torch.uint8),opset=15); case("BitwiseRightShift",[ip.to(torch.uint8),j.to(torch.uint8)],(ip>>j).to(torch.uint8),opset=15)
case("Softmax",[x],x.softmax(1),axis=1); case("Softmax",[x],x.softmax(-1),opset=8,axis=-1); case("LogSoftmax",[x],x.log_softmax(-1),opset=5,axis=-1); case("Convert",[x*3],(x*3).to(torch.int32),destination_type="i32"); case("ConvertLike",[i,K(1.5)],i.float()); case("Select",[b,x,y],torch.where(b,x,y))
def fq(x,a,c,d,e,n): return torch.where(x<=min(a,c),T(d),torch.where(x>max(a,c),T(e),torch.round((x-a)/(c-a)*(n-1))/(n-1)*(e-d)+d))
case("FakeQuantize",[x,K(-1.),K(1.2),K(-1.),K(1.2)],fq(x,-1.,1.2,-1.,1.2,256),levels=256); case("FakeQuantize",[x,K(-.5),K(.5),K(0.),K(3.)],fq(x,-.5,.5,0.,3.,4),levels=4)
# shapes
case("Reshape",[x,K([0,-1])],x.reshape(2,12),special_zero=True); case("Reshape",[x,K([6,4])],x.reshape(6,4),special_zero=False); case("Transpose",[x,K([2,0,1])],x.permute(2,0,1)); case("Squeeze",[x[:,:1],K([1])],x[:,0]); case("Unsqueeze",[x,K([0,3])],x[None,:,:,None]); case("Concat",[x,y],torch.cat([x,y],1),axis=1); case("Split",[x,K(2)],list(x.chunk(2,2)),num_splits=2); case("VariadicSplit",[x,K(2),K([1,-1])],list(x.split([1,3],2))); case("ShapeOf",[x],torch.tensor([2,3,4],dtype=torch.int32),opset=3,output_type="i32"); case("Range",[K(1),K(9),K(3)],T(1,4,7),opset=4,output_type="i64"); case("Tile",[x,K([2,1])],x.repeat(1,2,1)); case("Tile",[v,K([2,3])],v.repeat(2,3)); case("Broadcast",[v,K([2,4])],v.expand(2,4)); case("Broadcast",[v,K([4,3]),K([0])],v[:,None].expand(4,3),mode="explicit"); case("Broadcast",[x[:1],K([2,1,4])],x[:1].expand(2,3,4),opset=3,mode="bidirectional")
case("Slice",[x,K([1,0]),K([3,2]),K([1,1]),K([1,2])],x[:,1:3,0:2],opset=8); case("Slice",[x,K([-1]),K([-9]),K([-2]),K([2])],x.flip(2)[...,::2],opset=8)
case("StridedSlice",[x,K([1,0,0]),K([0,0,2]),K([1,1,1])],x[1:,:,:2],begin_mask=[0,1,1],end_mask=[1,1,0],new_axis_mask=[0,0,0],shrink_axis_mask=[0,0,0],ellipsis_mask=[0,0,0]); case("StridedSlice",[x,K([0,-1]),K([0,0]),K([1,1])],x[:,-1],begin_mask=[1,0],end_mask=[1,0],new_axis_mask=[0,0],shrink_axis_mask=[0,1],ellipsis_mask=[0,0]); case("StridedSlice",[x,K([0,0,1]),K([0,0,3]),K([1,1,1])],x[...,1:3][None],begin_mask=[1,0,0],end_mask=[1,0,0],new_axis_mask=[1,0,0],shrink_axis_mask=[0,0,0],ellipsis_mask=[0,1,0]); case("StridedSlice",[v,K([0]),K([0]),K([-1])],v.flip(0),begin_mask=[1],end_mask=[1])
case("Pad",[x,K([0,1,0]),K([1,0,2]),K(5.)],F.pad(x,(0,2,1,0,0,1),value=5.),pad_mode="constant"); case("Pad",[im,K([0,0,1,2]),K([0,0,2,1])],F.pad(im,(2,1,1,2),'reflect'),pad_mode="reflect"); case("Pad",[im,K([0,0,1,2]),K([0,0,2,1])],F.pad(im,(2,1,1,2),'replicate'),pad_mode="edge"); case("Pad",[v,K([2]),K([1])],torch.stack([v[1],v[0],*v,v[3]]),pad_mode="symmetric")
d8=R(1,8,2,3); case("DepthToSpace",[d8],F.pixel_shuffle(d8,2),mode="depth_first",block_size=2); case("DepthToSpace",[d8],d8.view(1,2,2,2,2,3).permute(0,3,4,1,5,2).reshape(1,2,4,6),mode="blocks_first",block_size=2); s4=R(1,2,4,6); case("SpaceToDepth",[s4],s4.view(1,2,2,2,3,2).permute(0,3,5,1,2,4).reshape(1,8,2,3),mode="blocks_first",block_size=2); case("SpaceToDepth",[s4],F.pixel_unshuffle(s4,2),mode="depth_first",block_size=2); case("ShuffleChannels",[d8],d8.view(1,2,4,2,3).transpose(1,2).reshape(1,8,2,3),axis=1,group=2)
sb=R(1,1,4,4); tb=sb.view(1,1,2,2,2,2).permute(3,5,0,1,2,4).reshape(4,1,2,2); case("SpaceToBatch",[sb,K([1,1,2,2]),K([0,0,0,0]),K([0,0,0,0])],tb,opset=2); case("BatchToSpace",[tb,K([1,1,2,2]),K([0,0,0,1]),K([0,0,1,0])],sb[:,:,:3,1:],opset=2); case("ReverseSequence",[x,K([2,3])],torch.stack([x[0][[1,0,2]],x[1][[2,1,0]]]),batch_axis=0,seq_axis=1); case("Roll",[x,K([1,-1]),K([1,2])],x.roll((1,-1),(1,2)),opset=7)
# indices
g=T(2,0,-1); case("Gather",[x,K(g),K(1)],x[:,g],opset=8,batch_dims=0)
gb=R(2,5); gi=torch.tensor([[0,4],[2,2]]); case("Gather",[gb,K(gi),K(1)],gb.gather(1,gi),opset=7,batch_dims=1); ge=torch.randint(0,3,(2,2,4)); case("GatherElements",[x,ge],x.gather(1,ge),opset=6,axis=1); nd=torch.tensor([[0,1],[1,2]]); case("GatherND",[x,K(nd)],x[nd[:,0],nd[:,1]],opset=8,batch_dims=0)
su=x.clone(); up=R(2,2,4); su[:,[2,0]]=up; case("ScatterUpdate",[x,K([2,0]),up,K(1)],su,opset=3); se=torch.randint(0,3,(2,3,4)); case("ScatterElementsUpdate",[x,se,y,K(1)],x.scatter(1,se,y),opset=3); case("ScatterElementsUpdate",[x,se,y,K(1)],x.scatter_add(1,se,y),opset=12,reduction="sum",use_init_val=True); sn=x.clone(); sn[nd[:,0],nd[:,1]]=y[0,:2]; case("ScatterNDUpdate",[x,K(nd),y[0,:2]],sn,opset=3)
case("OneHot",[T(0,2,1),K(3),K(5.),K(-1.)],F.one_hot(T(0,2,1),3).float()*6-1,axis=-1); case("NonZero",[b],b.nonzero().T,opset=3,output_type="i64")
tv,ti=x.topk(2,2); case("TopK",[x,K(2)],[tv,ti.int()],opset=3,axis=2,mode="max",sort="value",index_element_type="i32"); tv,ti=x.topk(2,2,largest=False); si=ti.sort(2)[0]; case("TopK",[x,K(2)],[x.gather(2,si),si],opset=11,axis=-1,mode="min",sort="index",index_element_type="i64")
case("CumSum",[x,K(1)],x.cumsum(1),opset=3); case("CumSum",[x,K(2)],x.flip(2).cumsum(2).flip(2)-x,opset=3,exclusive=True,reverse=True); case("Bucketize",[x,K([-1.,0.,1.])],torch.bucketize(x,T(-1.,0.,1.)),opset=3,output_type="i64",with_right_bound=True); case("Bucketize",[i.float(),K([0.,2.])],torch.bucketize(i.float(),T(0.,2.),right=True),opset=3,output_type="i64",with_right_bound=False)
case("Unique",[K(T(3,1,3,2))],[T(1,2,3),T(1,3,0),T(2,0,2,1),T(1,1,2)],opset=10,sorted=True,index_element_type="i64",count_element_type="i64")
for n,f in [("ReduceSum",torch.sum),("ReduceMean",torch.mean),("ReduceMax",torch.amax),("ReduceMin",torch.amin)]: case(n,[x,K([1,2])],f(x,(1,2)),keep_dims=False)
case("ReduceProd",[x,K(1)],x.prod(1,keepdim=True),keep_dims=True); case("ReduceL1",[x,K([2])],x.abs().sum(2),opset=4,keep_dims=False); case("ReduceL2",[x,K([-1])],x.norm(2,-1),opset=4,keep_dims=False); case("ReduceLogicalAnd",[b,K([2])],b.all(2),keep_dims=False); case("ReduceLogicalOr",[b,K([2])],b.any(2),keep_dims=False); case("Eye",[K(3),K(4),K(1)],torch.diag(torch.ones(3),1)[:3],opset=9,output_type="f32")
# networks
cw=R(3,2,3,3); case("Convolution",[im,K(cw)],F.conv2d(im,cw,stride=2,padding=1),strides=[2,2],pads_begin=[1,1],pads_end=[1,1],dilations=[1,1],auto_pad="explicit"); case("Convolution",[im,K(cw)],F.conv2d(F.pad(im,(0,1,1,1)),cw,stride=2),strides=[2,2],pads_begin=[0,0],pads_end=[0,0],dilations=[1,1],auto_pad="same_upper"); gw=R(2,3,1,2,2); case("GroupConvolution",[im,K(gw)],F.conv2d(im,gw.reshape(6,1,2,2),groups=2,dilation=2),strides=[1,1],pads_begin=[0,0],pads_end=[0,0],dilations=[2,2]); c1=R(2,3,7); w1=R(4,3,2); case("Convolution",[c1,K(w1)],F.conv1d(c1,w1,padding=1),strides=[1],pads_begin=[1],pads_end=[1],dilations=[1])
tw=R(2,3,3,3); case("ConvolutionBackpropData",[im,K(tw)],F.conv_transpose2d(im,tw,stride=2,padding=1,output_padding=1),strides=[2,2],pads_begin=[1,1],pads_end=[1,1],dilations=[1,1],output_padding=[1,1]); case("ConvolutionBackpropData",[im,K(tw),K([10,12])],F.conv_transpose2d(im,tw,stride=2,padding=1,output_padding=1),strides=[2,2],pads_begin=[1,1],pads_end=[1,1],dilations=[1,1]); tg=R(2,1,2,2,2); case("GroupConvolutionBackpropData",[im,K(tg)],F.conv_transpose2d(im,tg.reshape(2,2,2,2),stride=2,groups=2),strides=[2,2],pads_begin=[0,0],pads_end=[0,0],dilations=[1,1])
case("MaxPool",[im],F.max_pool2d(im,2,2),kernel=[2,2],strides=[2,2],pads_begin=[0,0],pads_end=[0,0],rounding_type="floor"); case("MaxPool",[im],[F.max_pool2d(im,(3,2),(2,1),ceil_mode=True),F.max_pool2d(im,(3,2),(2,1),ceil_mode=True,return_indices=True)[1]],opset=8,kernel=[3,2],strides=[2,1],pads_begin=[0,0],pads_end=[0,0],dilations=[1,1],rounding_type="ceil",index_element_type="i64",axis=2); case("AvgPool",[im],F.avg_pool2d(im,3,2,1,count_include_pad=False),kernel=[3,3],strides=[2,2],pads_begin=[1,1],pads_end=[1,1],exclude__pad=True,rounding_type="floor"); case("AvgPool",[im],F.avg_pool2d(im,3,2,1),kernel=[3,3],strides=[2,2],pads_begin=[1,1],pads_end=[1,1],exclude__pad=False,rounding_type="floor"); case("AdaptiveAvgPool",[im,K([3,2])],F.adaptive_avg_pool2d(im,(3,2)),opset=8)
m1=R(2,3,4); m2=R(2,5,4); case("MatMul",[m1,m2],m1@m2.mT,transpose_a=False,transpose_b=True); case("MatMul",[m1.mT.contiguous(),K(m2.mT.contiguous())],m1@m2.mT,transpose_a=True); case("Einsum",[m1,m2],torch.einsum("abc,adc->abd",m1,m2),opset=7,equation="abc,adc->abd")
q=R(1,2,3,4); k_=R(1,2,5,4); vv=R(1,2,5,4); mk=torch.rand(3,5)>.3; mk[:,0]=True
def sdpa(q,k,v,mask=None,scale=None):
    s=q@k.mT*(scale or q.shape[-1]**-.5); s=s.masked_fill(~mask,-math.inf) if mask is not None else s; return s.softmax(-1)@v
case("ScaledDotProductAttention",[q,k_,vv],sdpa(q,k_,vv),opset=13,causal=False); case("ScaledDotProductAttention",[q,k_,vv,mk],sdpa(q,k_,vv,mk),opset=13,causal=False); case("ScaledDotProductAttention",[q,k_[:,:,:3],vv[:,:,:3]],sdpa(q,k_[:,:,:3],vv[:,:,:3],torch.ones(3,3).tril().bool()),opset=13,causal=True)
bn=[R(2),R(2),R(2),R(2).abs()+.1]; bo=F.batch_norm(im,bn[2],bn[3],bn[0],bn[1],eps=.01); case("BatchNormInference",[im,*map(K,bn)],bo,opset=5,epsilon=.01); case("BatchNormInference",[K(bn[0]),K(bn[1]),im,K(bn[2]),K(bn[3])],bo,opset=1,epsilon=.01)
case("MVN",[im,K([2,3])],(im-im.mean((2,3),True))/torch.sqrt(im.var((2,3),unbiased=False,keepdim=True)+1e-3),opset=6,eps=1e-3,normalize_variance=True,eps_mode="inside_sqrt"); case("MVN",[im],(im-im.mean((1,2,3),True)),opset=2,across_channels=True,normalize_variance=False,eps=1e-9); case("MVN",[im,K([1,2,3])],(im-im.mean((1,2,3),True))/(im.std((1,2,3),unbiased=False,keepdim=True)+.1),opset=6,eps=.1,normalize_variance=True,eps_mode="outside_sqrt"); case("NormalizeL2",[x,K([1])],x/torch.sqrt((x*x).sum(1,keepdim=True)+.01),eps=.01,eps_mode="add"); case("NormalizeL2",[x,K([1])],x/torch.sqrt(torch.clamp_min((x*x).sum(1,keepdim=True),3.)),eps=3.,eps_mode="max"); case("LRN",[l6:=R(1,6,2,2),K([1])],F.local_response_norm(l6,3,.1,.75,2.),size=3,alpha=.1,beta=.75,bias=2.); gn=R(2,4,3); case("GroupNormalization",[gn,K(ga:=R(4)),K(gc:=R(4))],F.group_norm(gn,2,ga,gc,1e-3),opset=12,num_groups=2,epsilon=1e-3)
# recurrent layers: gates of an LSTM are f, i, c, o; of a GRU z, r, h
def lstm(x,h,c,w,r,b):
    f,i_,g_,o=(x@w.T+h@r.T+b).chunk(4,-1); c=f.sigmoid()*c+i_.sigmoid()*g_.tanh(); return o.sigmoid()*c.tanh(),c
def gru(x,h,w,r,b,late):
    wz,wr,wh=w.chunk(3); rz,rr,rh=r.chunk(3); B=b.chunk(4 if late else 3); z=(x@wz.T+h@rz.T+B[0]).sigmoid(); r_=(x@wr.T+h@rr.T+B[1]).sigmoid()
    n=(x@wh.T+B[2]+r_*(h@rh.T+B[3])).tanh() if late else (x@wh.T+(r_*h)@rh.T+B[2]).tanh(); return (1-z)*n+z*h
lx=R(2,3); lh=R(2,2); lc=R(2,2); lw=R(8,3); lr=R(8,2); lb=R(8); case("LSTMCell",[lx,lh,lc,K(lw),K(lr),K(lb)],list(lstm(lx,lh,lc,lw,lr,lb)),opset=4,hidden_size=2); kw=R(6,3); kr=R(6,2); kb=R(6); kl=R(8); case("GRUCell",[lx,lh,K(kw),K(kr),K(kb)],gru(lx,lh,kw,kr,kb,False),opset=3,hidden_size=2,linear_before_reset=False); case("GRUCell",[lx,lh,K(kw),K(kr),K(kl)],gru(lx,lh,kw,kr,kl,True),opset=3,hidden_size=2,linear_before_reset=True); rw=R(2,3); rr_=R(2,2); rb=R(2); case("RNNCell",[lx,lh,K(rw),K(rr_),K(rb)],(lx@rw.T+lh@rr_.T+rb).relu(),hidden_size=2,activations="relu")
sx=R(2,3,3); W=R(2,8,3); Rr=R(2,8,2); B=R(2,8); H=R(2,2,2); C=R(2,2,2); L=torch.tensor([3,2],dtype=torch.int32); Y=torch.zeros(2,2,3,2); Ho=torch.zeros(2,2,2); Co=torch.zeros(2,2,2)
for n_ in range(2):
    for d in range(2):
        h_,c_=H[n_,d][None],C[n_,d][None]; times=list(range(int(L[n_])))
        for t in times[::-1] if d else times: h_,c_=lstm(sx[n_,t][None],h_,c_,W[d],Rr[d],B[d]); Y[n_,d,t]=h_[0]
        Ho[n_,d],Co[n_,d]=h_[0],c_[0]
case("LSTMSequence",[sx,H,C,K(L),K(W),K(Rr),K(B)],[Y,Ho,Co],opset=5,hidden_size=2,direction="bidirectional")
h_=R(2,1,2); hs=[]; hh=h_[:,0]
for t in range(3): hh=gru(sx[:,t],hh,kw,kr,kb,False); hs.append(hh)
case("GRUSequence",[sx,h_,K(torch.tensor([3,3])),K(kw[None]),K(kr[None]),K(kb[None])],[torch.stack(hs,1)[:,None],hh[:,None]],opset=5,hidden_size=2,direction="forward"); hs=[]; hh=h_[:,0]
for t in (2,1,0): hh=(sx[:,t]@rw.T+hh@rr_.T+rb).tanh(); hs.insert(0,hh)
case("RNNSequence",[sx,h_,K(torch.tensor([3,3])),K(rw[None]),K(rr_[None]),K(rb[None])],[torch.stack(hs,1)[:,None],hh[:,None]],opset=5,hidden_size=2,direction="reverse")
# pictures
case("Interpolate",[im,K([10,12]),K([2.,2.]),K([2,3])],F.interpolate(im,scale_factor=2,mode='bilinear'),opset=4,mode="linear_onnx",shape_calculation_mode="sizes",coordinate_transformation_mode="half_pixel"); case("Interpolate",[im,K([10,3]),K([2.,.5]),K([2,3])],F.interpolate(im,size=(10,3),mode='nearest'),opset=4,mode="nearest",shape_calculation_mode="scales",coordinate_transformation_mode="asymmetric",nearest_mode="floor"); case("Interpolate",[im,K([8,9]),K([2,3])],F.interpolate(im,size=(8,9),mode='bicubic',align_corners=True),opset=11,mode="cubic",shape_calculation_mode="sizes",coordinate_transformation_mode="align_corners",cube_coeff=-.75); case("Interpolate",[im,K([10,12])],F.interpolate(im,size=(10,12),mode='bilinear',align_corners=True),opset=1,axes=[2,3],mode="linear",align_corners=True)
gr=torch.rand(1,3,2,2)*2.4-1.2; case("GridSample",[im,gr],F.grid_sample(im,gr,align_corners=False),opset=9,align_corners=False,mode="bilinear",padding_mode="zeros"); case("GridSample",[im,gr],F.grid_sample(im,gr,mode='nearest',padding_mode='border',align_corners=True),opset=9,align_corners=True,mode="nearest",padding_mode="border")
const=torch.full((1,1,6,6),2.5); case("ROIAlign",[const,K(torch.tensor([[0.,0.,4.,4.]])),K(T(0))],torch.full((1,1,2,2),2.5),opset=9,pooled_h=2,pooled_w=2,sampling_ratio=2,spatial_scale=1.,mode="avg",aligned_mode="asymmetric"); ra=torch.arange(36.).view(1,1,6,6); case("ROIPooling",[ra,K(torch.tensor([[0.,0.,0.,3.,3.]]))],torch.tensor([[[[7.,9.],[19.,21.]]]]),opset=2,pooled_h=2,pooled_w=2,spatial_scale=1.,method="max")
bx=torch.tensor([[[0.,0.,1.,1.],[0.,0.,1.,1.1],[0.,2.,1.,3.]]]); sc=torch.tensor([[[.6,.9,.75]]]); case("NonMaxSuppression",[bx,sc,K(3),K(.5),K(.1)],[torch.tensor([[0,0,1],[0,0,2]]),torch.tensor([[0.,0.,.9],[0.,0.,.75]]),T(2)],opset=5,box_encoding="corner",sort_result_descending=True,output_type="i64")
# fmt: on
print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "]")
