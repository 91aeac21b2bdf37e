#!/usr/bin/env python3
"""Makes cases.json: small TorchScript models, and what PyTorch answers. Needs PyTorch (1.13 or newer) and NumPy.

usage: make_cases.py [NAME...] > cases.json

A case has the entries of the model's zip file (texts, or bytes in hexadecimal), its inputs and its outputs. tests/unit/import/
torch_cases_test.c builds the files, imports them, and compares. Cases of more than a few kilobytes are left out.
Cases special_hand_* and script_hand_* are not made here: their answers follow from the integrals and sums that define the functions,
and from what Python answers.
"""
import json
import struct
import sys
import tempfile
import zipfile
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F

LIMIT = 7000
torch.manual_seed(0)


def R(*s):
    return (torch.randn(*s) * 100).round() / 100


def I(*s, hi=5):
    return torch.randint(0, hi, s)


C = {}


def c(name, f, *a):
    C[name] = (f, a)


# fmt: off
x=R(2,3,4); y=R(2,3,4); m=R(3,4); p=R(2,3,4).abs()+0.5; im=R(1,4,5,6); b=x>0; i=I(2,3,4)+1; v=R(4)
# pointwise
for n in "sin cos tan sinh cosh tanh exp sqrt rsqrt log log2 log10 log1p expm1 exp2 erf erfc sigmoid reciprocal floor ceil round trunc frac neg abs sign square relu asinh atan deg2rad rad2deg isnan isinf isfinite signbit sinc logical_not nan_to_num acosh".split():
    f=getattr(torch,n); c(n,(lambda f: lambda x: f(x))(f), p if n in("sqrt rsqrt log log2 log10 log1p".split()) else (p+1 if n=="acosh" else x*2))
for n in "asin acos atanh logit".split(): c(n,(lambda f: lambda x: f(x))(getattr(torch,n)), torch.rand(2,3)*.8+.1)
for n in "sin exp sqrt sigmoid floor abs neg sign reciprocal tanh".split(): c(n+"_int",(lambda f: lambda x: f(x))(getattr(torch,n)), i)
for n in "add sub mul div maximum minimum fmax fmin atan2 hypot pow remainder fmod floor_divide logaddexp copysign xlogy eq ne lt le gt ge logical_and logical_or logical_xor true_divide".split():
    f=getattr(torch,n)
    c(n,(lambda f: lambda x,y: f(x,y))(f), p if n in("pow","xlogy") else x, (p[:, :1] if n in ("pow","remainder","fmod","floor_divide","xlogy") else y[:1]))
    if n not in("hypot","logaddexp","copysign","atan2","xlogy","fmax","fmin"): c(n+"_int",(lambda f: lambda x,y: f(x,y))(f), i*(-1)**I(2,3,4,hi=2) if n!="pow" else i, I(2,3,4)+1 if n=="pow" else (I(3,4)+1)*(-1)**I(3,4,hi=2))
    if n not in("hypot","logaddexp","copysign","atan2","xlogy","fmax","fmin","maximum","minimum","logical_and","logical_or","logical_xor"):
        c(n+"_s",(lambda f: lambda x: f(x,2.5))(f), p if n=="pow" else x); c(n+"_is",(lambda f: lambda x: f(x,2))(f), i); c(n+"_ifs",(lambda f: lambda x: f(x,1.5))(f), i)
c("add_alpha",lambda x,y: torch.add(x,y,alpha=2.5),x,y); c("sub_alpha",lambda x,y: torch.sub(x,y,alpha=3),i,i); c("rsub",lambda x: 3-x,x); c("rsub_i",lambda x: 3-x,i); c("rdiv",lambda x: 3/x,p); c("rpow",lambda x: 2**x,x); c("rpow_i",lambda x: 2**x,i)
c("div_floor",lambda x,y: torch.div(x,y,rounding_mode='floor'),x,y); c("div_trunc",lambda x,y: torch.div(x,y,rounding_mode='trunc'),x*5,y); c("div_floor_i",lambda x,y: torch.div(x,y,rounding_mode='floor'),i-3,i); c("div_trunc_i",lambda x,y: torch.div(x,y,rounding_mode='trunc'),i-3,i)
c("bits",lambda x,y: ((x&y)|(x^3), ~x, x<<1, x>>1),i,i); c("bitb",lambda x,y: (x&y, x|y, x^y, ~x),b,y>0)
c("boolarith",lambda x,y: (x+y, x*y, x.sum(), x.any(1), x.all(1), x.max(), x.cumsum(1)),b,y>0)
c("lerp",lambda x,y: torch.lerp(x,y,0.3),x,y); c("addcmul",lambda x,y,z: torch.addcmul(x,y,z,value=0.5),x,y,p); c("addcdiv",lambda x,y,z: torch.addcdiv(x,y,z,value=0.5),x,y,p)
c("where",lambda c_,x,y: torch.where(c_,x,y),b,x,y); c("where_s",lambda c_,x: torch.where(c_,x,0.),b,x.double()); c("where1",lambda c_: torch.where(c_),b); c("masked_fill",lambda x,m_: x.masked_fill(m_,-1e9),x,b); c("masked_fill_i",lambda x,m_: x.masked_fill(m_,7),i,b)
c("clamp",lambda x: (x.clamp(-0.5,0.5),x.clamp(min=0),x.clamp(max=0.2),torch.clamp_min(x,0.1),torch.clamp_max(x,.3)),x); c("clamp_i",lambda x: (x.clamp(2,3),x.clamp(min=1.5)),i); c("clamp_t",lambda x,y,z: torch.clamp(x,y,z),x,-p,p)
c("heaviside",lambda x,y: torch.heaviside(x,y),torch.tensor([-1.,0,2]),torch.tensor([.5,.5,.5])); c("isclose",lambda x,y: torch.isclose(x,y),x,x+1e-9); c("round_d",lambda x: torch.round(x,decimals=2),x); c("ldexp",lambda x,y: torch.ldexp(x,y),x,i); c("float_power",lambda x: torch.float_power(x,2),x)
# activations
for n in "relu6 gelu silu mish softplus hardswish hardsigmoid hardtanh elu celu selu leaky_relu logsigmoid hardshrink softshrink tanhshrink softsign softmin".split():
    c("F."+n,(lambda f: lambda x: f(x))(getattr(F,n)), x*3)
c("gelu_tanh",lambda x: F.gelu(x,approximate='tanh'),x); c("softplus_b",lambda x: F.softplus(x,2,3),x*3); c("elu_a",lambda x: F.elu(x,0.3),x); c("celu_a",lambda x: F.celu(x,0.7),x); c("prelu",lambda x,w: F.prelu(x,w),im,R(4)); c("prelu1",lambda x,w: F.prelu(x,w),im,R(1)); c("threshold",lambda x: F.threshold(x,.1,9.),x); c("glu",lambda x: F.glu(x,-1),x); c("softmax",lambda x: (F.softmax(x,1),F.log_softmax(x,-1),F.softmax(x,0,dtype=torch.float64)),x); c("dropout",lambda x: F.dropout(x,.5,False),x); c("normalize",lambda x: F.normalize(x,dim=1),x); c("cosine_similarity",lambda x,y: F.cosine_similarity(x,y,dim=-1),x,y); c("pairwise_distance",lambda x,y: F.pairwise_distance(x,y),m,R(3,4)); c("cdist",lambda x,y: (torch.cdist(x,y),torch.cdist(x,y,1.)),x,R(2,5,4)); c("rrelu",lambda x: F.rrelu(x),x)
# reductions
for n in "sum mean prod std var amax amin argmax argmin any all logsumexp norm median max min count_nonzero".split():
    f=getattr(torch,n)
    if n not in("logsumexp","amax","amin"): c(n+"_all",(lambda f: lambda x: f(x))(f), (x>0) if n in("any","all") else x)
    c(n+"_d",(lambda f,n: lambda x: f(x,dim=1))(f,n), (x>0) if n in("any","all") else x)
    if n not in("count_nonzero",): c(n+"_dk",(lambda f,n: lambda x: f(x,dim=-1,keepdim=True))(f,n), (x>0) if n in("any","all") else x)
c("sum_dims",lambda x: (x.sum((0,2)),x.mean((1,2),keepdim=True),x.sum(1,dtype=torch.float64)),x); c("sum_i",lambda x: (x.sum(),x.sum(1),x.prod(1),x.cumsum(-1),x.float().mean()),i); c("std_u",lambda x: (x.std(1,unbiased=False),x.var([0,2],unbiased=False,keepdim=True),torch.var_mean(x,1),torch.std_mean(x,1,unbiased=False)),x); c("norms",lambda x: (x.norm(1,1),x.norm(3.,1),x.norm(float('inf')),x.norm(2,(1,2)),torch.linalg.vector_norm(x,2,dim=1),torch.linalg.norm(x)),x)
c("cum",lambda x: (x.cumsum(1),x.cumprod(2),torch.cummax(x,1)[0],torch.cummax(x,1)[1],torch.cummin(x,2)[0],torch.logcumsumexp(x,1)),x); c("diff",lambda x: (torch.diff(x),torch.diff(x,dim=1),torch.diff(x,n=2)),x); c("aminmax",lambda x: tuple(torch.aminmax(x,dim=1)),x); c("equal_",lambda x: x.eq(x).all(),x); c("nansum",lambda x: torch.nansum(x,1),x); c("max_i",lambda x: (x.max(),x.amax(1),x.argmax()),i)
# shape
c("views",lambda x: (x.view(6,4),x.reshape(-1,2),x.flatten(1),x.flatten(),x.unflatten(2,(2,2)),x.transpose(0,2),x.permute(2,0,1),x.unsqueeze(-2),x.unsqueeze(1).squeeze(1),x[:,:1].squeeze(),x.movedim(0,-1),x.t() if x.dim()==2 else x.mT,x.swapaxes(0,1)),x)
c("expand",lambda x: (x.unsqueeze(1).expand(-1,2,-1,-1),x[:1].expand(3,3,4),torch.broadcast_to(x[:1],(2,3,4)),x[:1].expand_as(x)),x)
c("slices",lambda x: (x[:,1:],x[...,::2],x[0],x[-1,:, -2],x[:, -2:],x.narrow(1,1,2),x.select(2,1),x[:,None]),x)
c("splits",lambda x: tuple(x.split(2,1))+tuple(x.chunk(2,2))+tuple(x.unbind(1))+tuple(torch.tensor_split(x,3,2))+tuple(x.split([1,3],2)),x)
c("cats",lambda x,y: (torch.cat([x,y],1),torch.stack([x,y],-1),torch.hstack([x,y]),torch.vstack([x,y]),torch.cat([x,y.double()],0),torch.column_stack([x[:,0,0],y[:,0,0]])),x,y)
c("repeats",lambda x: (x.repeat(1,2,1),x.repeat(2,1,1,1),torch.tile(x,(2,)),x.repeat_interleave(2,1),x.repeat_interleave(3)),x); c("repeat_t",lambda x,r: x.repeat_interleave(r,1),x,torch.tensor([1,0,2]))
c("flips",lambda x: (x.flip(0),x.flip([1,2]),x.roll(1,1),x.roll((1,-1),(1,2)),x.roll(2),torch.rot90(x,1,(1,2))),x)
c("tri",lambda x: (x.tril(),x.triu(1),x.tril(-1),torch.triu(torch.ones(4,4),1)),x); c("diags",lambda x: (x.diagonal(0,1,2),x.diagonal(1,0,2),torch.diag_embed(x),torch.diag(x[0]),torch.diag(x[0,0],1),torch.diag(x[0,0],-1),x[0,:3,:3].trace()),x)
c("pads",lambda x: (F.pad(x,(1,2)),F.pad(x,(1,-1,0,2),value=3.),F.pad(x,(1,2,2,1),'reflect'),F.pad(x,(2,1,1,1),'replicate'),F.pad(x,(1,2,1,0),'circular')),im)
c("pixel",lambda x: (F.pixel_shuffle(x,2),F.pixel_unshuffle(x[:,:,:4,:6],2),F.channel_shuffle(x,2)),im); c("unfold_t",lambda x: (x.unfold(2,2,1),x.unfold(1,3,1),x.unfold(2,2,2)),x); c("unfold_F",lambda x: (F.unfold(x,(2,3),1,1,2),F.fold(F.unfold(x,2,1,0,1),(5,6),2)),im)
c("meshgrid",lambda x,y: torch.meshgrid(x,y,indexing='ij')+torch.meshgrid(x,y,indexing='xy'),v,R(3)); c("as_strided",lambda x: (torch.as_strided(x,(2,2),(4,1),1),torch.as_strided(x,(24,),(1,))),x); c("atleast",lambda x: (torch.atleast_1d(x.sum()),torch.atleast_2d(x[0,0]),torch.atleast_3d(x[0])),x); c("bcast",lambda x,y: torch.broadcast_tensors(x,y),x[:1],v)
# create
c("create",lambda x: (torch.zeros(2,3)+x.sum(),torch.ones_like(x),torch.full((2,2),7),torch.arange(5)+x[0,0,0],torch.arange(1,10,2),torch.arange(0,1,.25),torch.linspace(0,1,5),torch.eye(3),torch.eye(2,3),x.new_zeros(2,2),x.new_full((2,),3.),torch.full_like(x,2.5),torch.empty_like(x).fill_(3.),torch.zeros_like(x,dtype=torch.int64),torch.tril_indices(3,3),torch.triu_indices(3,4,1)),x)
c("casts",lambda x: (x.int(),x.long(),x.double(),x.half().float(),x.bool(),x.to(torch.int16),x.to(torch.float64),x.type_as(x.long()),x.bfloat16().float(),(x*50).to(torch.uint8)),p*3)
# index
c("gather",lambda x,j: (x.gather(1,j),torch.take_along_dim(x,j,1)),x,I(2,2,4,hi=3)); c("index_select",lambda x,j: x.index_select(1,j),x,torch.tensor([2,0,0])); c("take",lambda x,j: torch.take(x,j),x,torch.tensor([[0,5],[23,2]])); c("embedding",lambda w,j: F.embedding(j,w),R(7,3),I(2,5,hi=7)); c("embag",lambda w,j: (F.embedding_bag(j,w,mode='sum'),F.embedding_bag(j,w),F.embedding_bag(j,w,mode='max')),R(7,3),I(2,5,hi=7)); c("embag_o",lambda w,j,o: (F.embedding_bag(j,w,o,mode='sum'),F.embedding_bag(j,w,o)),R(7,3),I(6,hi=7),torch.tensor([0,2,4]))
c("index1",lambda x,j: (x[j],x[:,j],x[j,j],x[:,j,j],x[j,:,j],x[:,:,j]),R(3,3,3),torch.tensor([0,-1])); c("index2",lambda x,j,k: (x[j,k],x[:,j,k],x[j[:,0],:,k[0]]),R(3,3,3),torch.tensor([[0],[2]]),torch.tensor([[1,2]])); c("mask_idx",lambda x,m_: (x[m_],x[:,m_[0]],torch.masked_select(x,m_)),x,b); c("nonzero",lambda x: (x.nonzero(),),b)
def ip(x,j,u): x=x.clone(); x[j]=u; return x
c("index_put",ip,x,torch.tensor([1]),R(1,3,4))
def ip2(x,j,u): x=x.clone(); x[:,j]=u; x[:,:,1:3]=0.; x[0,0]+=1; x[x>1]=9.; return x
c("index_put2",ip2,x,torch.tensor([0,2]),R(2,2,4))
c("index_put_acc",lambda x,j,u: x.index_put((j,),u,accumulate=True),x,torch.tensor([1,1]),R(2,3,4)); c("scatter",lambda x,j,s: (x.scatter(1,j,s),x.scatter(1,j,2.),x.scatter_add(1,j,s)),x,I(2,1,4,hi=3),R(2,3,4)); c("scatter_r",lambda x,j,s: (x.scatter_reduce(1,j,s,'amax'),x.scatter_reduce(1,j,s,'sum',include_self=False),x.scatter_reduce(1,j,s,'mean'),x.scatter_reduce(1,j,s,'prod')),x,I(2,3,4,hi=3),R(2,3,4))
c("index_add",lambda x,j,s: (x.index_add(1,j,s),x.index_copy(1,j,s),x.index_fill(1,j,5.)),x,torch.tensor([0,2]),R(2,2,4)); c("scatters",lambda x,s: (torch.select_scatter(x,s,1,1),torch.slice_scatter(x,x[:,:2]*0,1,0,2,1),torch.diagonal_scatter(x[0],x[0,0,:3])),x,R(2,4)); c("masked_scatter",lambda x,m_,s: x.masked_scatter(m_,s),x,b,R(24)); c("one_hot",lambda j: F.one_hot(j,6),I(2,3)); c("bucket",lambda x,e: (torch.bucketize(x,e),torch.bucketize(x,e,right=True),torch.searchsorted(e,x)),x,torch.tensor([-1.,0,.5])); c("isin",lambda x,e: torch.isin(x,e),i,torch.tensor([1,3]))
c("sorts",lambda x: tuple(x.sort(1))+tuple(x.sort(-1,True))+(x.argsort(1),)+tuple(x.topk(2,1))+tuple(x.topk(2,2,False))+tuple(x.kthvalue(2,1))+tuple(x.median(1))+(x.msort(),),x); c("unique",lambda x: torch.unique(x),i)
# linear
c("mms",lambda x,y,z: (x@y.mT,torch.bmm(x,y.mT),torch.mm(z,z.t()),torch.mv(z,z[0]),torch.dot(z[0],z[1]),torch.outer(z[0],z[1]),torch.inner(z,z),z[0]@z[1],x@z.t(),x@z[0]),x,y,m); c("addmm",lambda x,y,z: (torch.addmm(x,y,z),torch.addmm(x,y,z,beta=.5,alpha=2)),R(3,5),m,R(4,5)); c("baddbmm",lambda x,y: (torch.baddbmm(x@y.mT,x,y.mT,beta=.5,alpha=2.),torch.addbmm(x[0]@y[0].t(),x,y.mT),torch.addmv(x[0,:,0],x[0],y[0,0]),torch.addr(x[0],x[0,:,0],y[0,0])),x,y)
c("einsum",lambda x,y: (torch.einsum('bij,bkj->bik',x,y),torch.einsum('bij->bji',x),torch.einsum('...j,...j->...',x,y),torch.einsum('bij,bij',x,y)),x,y); c("tensordot",lambda x,y: torch.tensordot(x,y,dims=([1,2],[1,2])),x,y); c("bilinear",lambda x,y,w,b_: F.bilinear(x,y,w,b_),R(3,4),R(3,5),R(2,4,5),R(2)); c("cross",lambda x,y: torch.cross(x,y,dim=1),x,y); c("linear",lambda x,w,b_: (F.linear(x,w,b_),F.linear(x,w),F.linear(x[0],w,b_)),x,R(5,4),R(5)); c("det",lambda x: torch.det(x),R(2,3,3))
# conv, pool
w1=R(6,4,3,3)
c("conv2d",lambda x,w,b_: (F.conv2d(x,w,b_),F.conv2d(x,w,b_,2,1),F.conv2d(x,w,None,(1,2),(2,1),(2,1)),F.conv2d(x,w,padding='same'),F.conv2d(x[0],w,b_)),im,w1,R(6)); c("conv_g",lambda x,w: F.conv2d(x,w,groups=2),im,R(6,2,3,3)); c("conv1d",lambda x,w,b_: F.conv1d(x,w,b_,2,1),R(2,4,10),R(3,4,3),R(3)); c("conv3d",lambda x,w: F.conv3d(x,w,padding=1),R(1,2,4,5,6),R(3,2,3,3,3)); c("convT",lambda x,w,b_: (F.conv_transpose2d(x,w,b_),F.conv_transpose2d(x,w,b_,2,1,1),F.conv_transpose2d(x,w,None,(2,1),(0,1),dilation=2)),im,R(4,3,3,3),R(3)); c("convT_g",lambda x,w: F.conv_transpose2d(x,w,groups=2,stride=2),im,R(4,3,2,2)); c("convT1",lambda x,w: F.conv_transpose1d(x,w,stride=3,output_padding=1),R(2,4,5),R(4,2,4))
c("maxpool",lambda x: (F.max_pool2d(x,2),F.max_pool2d(x,3,2,1),F.max_pool2d(x,3,2,1,ceil_mode=True),F.max_pool2d(x,2,1,0,2),F.max_pool2d(x,(2,3),(1,2)))+tuple(F.max_pool2d(x,2,return_indices=True)),im); c("avgpool",lambda x: (F.avg_pool2d(x,2),F.avg_pool2d(x,3,2,1),F.avg_pool2d(x,3,2,1,count_include_pad=False),F.avg_pool2d(x,3,2,1,ceil_mode=True),F.avg_pool2d(x,3,2,1,ceil_mode=True,count_include_pad=False),F.avg_pool2d(x,2,divisor_override=3)),im); c("pool1d",lambda x: (F.max_pool1d(x,2),F.avg_pool1d(x,3,2,1),F.adaptive_avg_pool1d(x,3),F.adaptive_max_pool1d(x,5),F.lp_pool1d(x,2,2)),R(2,4,10)); c("pool3d",lambda x: (F.max_pool3d(x,2),F.avg_pool3d(x,2),F.adaptive_avg_pool3d(x,(2,1,3))),R(1,2,4,5,6))
c("adaptive",lambda x: (F.adaptive_avg_pool2d(x,1),F.adaptive_avg_pool2d(x,(3,11)),F.adaptive_avg_pool2d(x,(4,5)),F.adaptive_max_pool2d(x,1),F.adaptive_max_pool2d(x,(3,11)),F.adaptive_max_pool2d(x,(4,5)),F.adaptive_avg_pool2d(x,(None,7))),im)
def unpool(x):
    y_,k=F.max_pool2d(x,2,return_indices=True); return F.max_unpool2d(y_,k,2,output_size=(4,6))
c("unpool",unpool,im[:,:,:4,:6].contiguous())
# norm
c("bn",lambda x,w,b_,m_,v_: (F.batch_norm(x,m_,v_,w,b_),F.batch_norm(x,m_,v_),F.batch_norm(x,None,None,w,b_,training=True)),im,R(4),R(4),R(4),R(4).abs()+.1); c("bn2",lambda x,m_,v_: F.batch_norm(x,m_,v_),m,R(4),R(4).abs()+.1); c("ln",lambda x,w,b_: (F.layer_norm(x,(4,),w,b_),F.layer_norm(x,(3,4)),F.layer_norm(x,(4,),w,eps=.1)),x,R(4),R(4)); c("gn",lambda x,w,b_: (F.group_norm(x,2,w,b_),F.group_norm(x,4)),im,R(4),R(4)); c("gn2",lambda x,w: F.group_norm(x,2,w),m,R(4)); c("inorm",lambda x,w,b_: (F.instance_norm(x),F.instance_norm(x,weight=w,bias=b_)),im,R(4),R(4)); c("lrn",lambda x: F.local_response_norm(x,3),im)
# resize
for mode,kw in [("nearest",{}),("nearest-exact",{}),("bilinear",dict(align_corners=False)),("bilinear",dict(align_corners=True)),("bicubic",dict(align_corners=False)),("bicubic",dict(align_corners=True)),("area",{})]:
    tag=mode+str(kw.get("align_corners",""))
    c("rs_"+tag,(lambda mode,kw: lambda x: (F.interpolate(x,scale_factor=2,mode=mode,**kw),F.interpolate(x,size=(3,8),mode=mode,**kw),F.interpolate(x,size=(1,4),mode=mode,**kw)))(mode,kw),im)
    if mode!="area": c("rsf_"+tag,(lambda mode,kw: lambda x: (F.interpolate(x,scale_factor=1.7,mode=mode,**kw),F.interpolate(x,scale_factor=(.6,1.3),mode=mode,recompute_scale_factor=True,**kw)))(mode,kw),im)
c("rs_aa",lambda x: (F.interpolate(x,size=(5,6),mode="bilinear",antialias=True),F.interpolate(x,size=(4,5),mode="bicubic",antialias=True)),im); c("rs1d",lambda x: (F.interpolate(x,scale_factor=2,mode="linear"),F.interpolate(x,size=7)),R(1,2,5)); c("rs3d",lambda x: (F.interpolate(x,scale_factor=2,mode="trilinear"),F.interpolate(x,scale_factor=(2.,1.,3.))),R(1,2,3,4,2))
g=torch.rand(1,3,5,2)*2.4-1.2
for mode in("bilinear","nearest","bicubic"):
    for pm in("zeros","border","reflection"):
        c("grid_%s_%s"%(mode,pm),(lambda mode,pm: lambda x,g: (F.grid_sample(x,g,mode,pm,False),F.grid_sample(x,g,mode,pm,True)))(mode,pm),im,g)
c("affine",lambda th: (F.affine_grid(th,(2,3,4,5),False),F.affine_grid(th,(2,3,4,5),True)),R(2,2,3))
# attention
c("sdpa",lambda q,k,v_: torch._scaled_dot_product_attention(q,k,v_)[0] if hasattr(torch,'_scaled_dot_product_attention') else q,R(2,2,5,4),R(2,2,6,4),R(2,2,6,4))
# complex numbers and Fourier transforms; what is complex is given as pairs
z=R(2,3,8); pr=R(3,4,2); wv=R(1,32); hw=torch.hann_window(16)
def pairs(*t): return tuple(torch.view_as_real(q.resolve_conj()) if q.is_complex() else q for q in t)
c("fft1",lambda z: pairs(torch.fft.rfft(z),torch.fft.fft(z,dim=1),torch.fft.irfft(torch.fft.rfft(z)),torch.fft.ifft(torch.fft.fft(z)),torch.fft.rfft(z,n=5),torch.fft.rfft(z,n=11,norm="ortho"),torch.fft.irfft(torch.fft.rfft(z),n=7,norm="forward"),torch.fft.hfft(torch.fft.rfft(z)),torch.fft.ihfft(z)),z)
c("fft2",lambda z: pairs(torch.fft.fft2(z),torch.fft.rfft2(z,norm="forward"),torch.fft.irfft2(torch.fft.rfft2(z)),torch.fft.fftn(z,norm="ortho"),torch.fft.fftshift(torch.fft.fft(z),dim=-1),torch.fft.ifftshift(z),torch.fft.fftfreq(8)+z[0,0],torch.fft.rfftfreq(9,.5)+z[0,0,:5]),z)
c("cplx_math",lambda p: (lambda a: pairs(a*a.conj(),a/(a+2),a.abs(),torch.angle(a),a.exp(),torch.log(a),torch.sqrt(a),a**3,a*2-1j,torch.sgn(a),a.real+a.imag,torch.sin(a),torch.tanh(a),1/a,a.sum(0),a.mean()))(torch.view_as_complex(p)),pr)
c("cplx_shape",lambda p: (lambda a: pairs(a.t(),a.reshape(-1)[2:5],torch.cat([a,a*2]),torch.stack([a,a.conj()],1),a.unsqueeze(0).expand(2,3,4),torch.where(a.real>0,a,torch.zeros_like(a)),a[1],a.flip(0),a==a,torch.complex(a.imag,a.real)))(torch.view_as_complex(p)),pr)
c("cplx_matmul",lambda p,q: (lambda a,b: pairs(a@b.mH,torch.einsum("ij,kj->ik",a,b),torch.matmul(a,b.real.t().to(a.dtype)),torch.polar(a.abs(),a.angle())))(torch.view_as_complex(p),torch.view_as_complex(q)),pr,R(3,4,2))
def cput(p):
    o=torch.zeros(3,6,dtype=torch.complex64); o[:,1:5]=torch.view_as_complex(p); o[0]*=2; return torch.view_as_real(o)
c("cplx_put",cput,pr)
c("stft",lambda x,w: pairs(torch.stft(x,16,4,window=w,return_complex=True),torch.stft(x,16,8,12,hw[:12],center=False,normalized=True,return_complex=True),torch.istft(torch.stft(x,16,4,window=w,return_complex=True)*1.5,16,4,window=w,length=30)),wv,hw)
# operators that are written in others
tg=I(3,hi=4); lg=R(3,4); bn=(R(3,4)>0).float(); pd=m@m.t()+4*torch.eye(3)
c("losses",lambda x,y,t_,b_: (F.mse_loss(x,y),F.l1_loss(x,y,reduction="sum"),F.smooth_l1_loss(x,y,beta=.5),F.huber_loss(x,y,delta=.7),F.cross_entropy(x,t_),F.cross_entropy(x,t_,label_smoothing=.1),F.nll_loss(x.log_softmax(-1),t_,reduction="none"),F.kl_div(x.log_softmax(-1),y.softmax(-1),reduction="sum"),F.binary_cross_entropy_with_logits(x,b_),F.binary_cross_entropy(x.sigmoid(),b_),F.soft_margin_loss(x,b_*2-1),F.poisson_nll_loss(x,b_),F.multi_margin_loss(x,t_),F.triplet_margin_loss(x,y,x+1),F.margin_ranking_loss(x,y,b_*2-1),F.hinge_embedding_loss(x,b_*2-1),F.cosine_embedding_loss(x,y,torch.tensor([1,-1,1]))),lg,m,tg,bn)
c("stats",lambda x,i_: (torch.histc(x,5,-1.,1.),torch.quantile(x,.3,dim=1),torch.cov(x),torch.corrcoef(x),torch.nanmean(x),torch.trapezoid(x,dim=0),torch.dist(x,x+1),torch.renorm(x,2,0,1.),torch.bincount(i_.flatten()),torch.mode(i_,1)[0],torch.kron(x[:2,:2],x[:2]),torch.block_diag(x,x),torch.cartesian_prod(x[0],x[1]),torch.fliplr(x),torch.vander(x[0])),m,I(3,4))
c("special",lambda x: (torch.erfinv(x.tanh()),torch.lgamma(x.abs()+.5),torch.digamma(x.abs()+.5),torch.polygamma(1,x.abs()+.5),torch.special.i0(x),torch.special.i0e(x),torch.special.ndtr(x),torch.special.entr(x.abs()),torch.logaddexp2(x,x+1)),m)
c("solve",lambda a_,b_: (torch.linalg.inv(a_),torch.linalg.solve(a_,b_),torch.linalg.det(a_),torch.linalg.slogdet(a_)[1],torch.linalg.cholesky(a_),torch.linalg.solve_triangular(torch.linalg.cholesky(a_),b_,upper=False),torch.cholesky_solve(b_,torch.linalg.cholesky(a_)),torch.linalg.matrix_norm(b_,1),torch.matrix_exp(a_*.1)),pd,R(3,2))
# inplace / views
def inpl(x):
    y_=x.clone(); z=y_[:,1]; z.mul_(2); y_.add_(1); w_=y_.view(6,4); w_[0]=7; y_.transpose(0,1)[2].zero_(); y_[...,1].copy_(x[...,0]); return y_,z,w_
c("inplace",inpl,x)
def inpl2(x):
    y_=x.clone(); a_,b_=y_.chunk(2,2); a_.relu_(); b_.sigmoid_(); y_.masked_fill_(y_>.9,0.); y_[0].diagonal().fill_(5.); return y_,a_,b_
c("inplace2",inpl2,x)
c("promo",lambda x,i_: (x+i_,i_+1.5,i_/2,i_+i_.to(torch.int32),x.half()+1,x.half()+x.sum(),i_.to(torch.uint8)+i_.to(torch.int8),(x.double().sum()+x),i_>1.5,torch.tensor(2)*x,torch.tensor(2.5)*i_, i_.to(torch.int32)*torch.tensor(3)),x,i)


class Mod(nn.Module):
    def __init__(s, f): super().__init__(); s.f = f
    def forward(s, *a): return s.f(*a)


# ---- models with weights, and scripts

M={}
def m(name,mod,*a,script=False): M[name]=(mod.eval(),a,script)
m("lstm2",nn.LSTM(4,5,2,batch_first=True,bidirectional=True),R(3,6,4)); m("gru",nn.GRU(4,5,2),R(6,3,4)); m("rnn",nn.RNN(4,5,nonlinearity='relu',bidirectional=True),R(6,3,4)); m("lstm1",nn.LSTM(4,5,bias=False),R(6,4))
m("lstmcell",nn.LSTMCell(4,5),R(3,4)); m("grucell",nn.GRUCell(4,5),R(3,4)); m("rnncell",nn.RNNCell(4,5),R(3,4))
m("mha",nn.MultiheadAttention(8,2,batch_first=True),R(2,5,8),R(2,5,8),R(2,5,8)); m("enc",nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,batch_first=True),2),R(2,5,8)); m("encg",nn.TransformerEncoderLayer(8,2,16,activation='gelu',norm_first=True),R(5,2,8)); m("dec",nn.TransformerDecoderLayer(8,2,16),R(5,2,8),R(6,2,8)); m("tf",nn.Transformer(8,2,1,1,16),R(5,2,8),R(4,2,8))
m("wn",nn.utils.weight_norm(nn.Conv1d(3,4,3)),R(2,3,8)); m("sn",nn.utils.spectral_norm(nn.Linear(4,5)).eval(),R(3,4))
m("seq",nn.Sequential(nn.Conv2d(3,8,3,padding=1),nn.BatchNorm2d(8),nn.ReLU6(),nn.MaxPool2d(2),nn.Conv2d(8,8,3,groups=8),nn.Hardswish(),nn.AdaptiveAvgPool2d(1),nn.Flatten(),nn.Linear(8,3),nn.Softmax(-1)),R(2,3,12,12),script=True)
m("seqt",M["seq"][0],R(2,3,12,12))
class A(nn.Module):
    def forward(s,x): 
        y=x
        for i in range(x.size(0)):
            y=y+x[i]*i
        return y
m("sloop",A(),R(3,4),script=True)
class B(nn.Module):
    def __init__(s): super().__init__(); s.l=nn.ModuleList([nn.Linear(4,4) for _ in range(3)]); s.k=2
    def forward(s,x,flag: bool=True):
        out: List[torch.Tensor]=[]
        for l in s.l:
            x=torch.relu(l(x)); out.append(x)
        if flag: x=x*s.k
        d={"a":x,"b":torch.cat(out,1)}
        return d["a"],d["b"]
class B2(B):
    def forward(s,x): return super().forward(x,True)
class C3(nn.Module):
    def __init__(s): super().__init__(); s.l=nn.ModuleList([nn.Linear(4,4) for _ in range(3)]); s.k=2
    def forward(s,x):
        out: List[torch.Tensor]=[]
        for l in s.l:
            x=torch.relu(l(x)); out.append(x)
        d={"a":x*s.k,"b":torch.cat(out,1)}
        return d["a"],d["b"]
m("slist",C3(),R(2,4),script=True)
class D(nn.Module):
    def __init__(s): super().__init__(); s.c=nn.GRUCell(4,5)
    def forward(s,x):
        h=torch.zeros(x.size(1),5); outs: List[torch.Tensor]=[]
        for t in range(x.size(0)):
            h=s.c(x[t],h); outs.append(h)
        return torch.stack(outs),h
m("srnn",D(),R(6,3,4),script=True)
class E(nn.Module):
    def forward(s,x):
        n=0
        while x.sum()<100. :
            x=x*2; n+=1
            if n>20: x=x+1000.
        return x,torch.tensor(n)
m("swhile",E(),torch.rand(3,4),script=True)
class G(nn.Module):
    def forward(s,x, m:Optional[torch.Tensor]=None):
        if m is not None: x=x*m
        if x.mean()>0:
            y=x.relu(); z=y.sum()
        else:
            y=-x; z=y.max()
        a=x if bool(z>1) else x*3
        return y,z,a
m("sif",G(),R(3,4),script=True)
class H_(nn.Module):
    def forward(s,x):
        B_,C_,Hh,W=x.shape
        x=x.reshape(B_,C_,Hh//2,2,W//2,2).permute(0,2,4,1,3,5).reshape(B_,-1,C_*4)
        assert C_==3
        if x.size(1)<0: raise RuntimeError("no")
        return F.interpolate(x,scale_factor=2.0,mode='linear'), x.shape[1]
m("sshape",H_(),R(2,3,8,8),script=True)
class P(nn.Module):
    def __init__(s): super().__init__(); s.register_buffer("buf",torch.arange(4.)); s.w=nn.Parameter(R(4))
    @torch.jit.export
    def helper(s,x): return x*s.w
    def forward(s,x):
        y=s.helper(x)+s.buf
        y[:,0]=0
        return y,x.to(y.dtype).std(),F.dropout(y,0.5,s.training)
m("sbuf",P(),R(3,4),script=True)
class Q(nn.Module):
    def forward(s,x):
        b=x.new_zeros(x.size(0),dtype=torch.long); idx=torch.arange(x.size(1),device=x.device)[None].expand(x.size(0),-1)
        mask=idx<=idx.flip(1); return x.masked_fill(~mask,float('-inf')).softmax(-1), b, x[:, -1:], (x>0).sum(-1), torch.nonzero(x>0)
m("smisc",Q(),R(3,4),script=True); m("tmisc",Q(),R(3,4))
class S(nn.Module):
    def forward(s,x):
        q,k=x.chunk(2,-1); r=torch.einsum("bid,bjd->bij",q,k); t_=torch.tril(torch.ones(r.shape[-1],r.shape[-1],dtype=torch.bool))
        r=torch.where(t_,r,torch.full_like(r,-1e9)); o=F.scaled_dot_product_attention(q,k,k) if hasattr(F,'scaled_dot_product_attention') else q
        return r.softmax(-1)@k,o,x.view(x.shape[0],-1).topk(3).values
m("satt",S(),R(2,5,8),script=True)

# sequences of different lengths, projections, nested tensors
def packed(cell):
    class Packed(nn.Module):
        def __init__(s): super().__init__(); s.l=cell
        def forward(s,x,n):
            q=nn.utils.rnn.pack_padded_sequence(x,n,batch_first=True,enforce_sorted=False); o,h=s.l(q)
            return nn.utils.rnn.pad_packed_sequence(o,batch_first=True,total_length=x.size(1))[0],h
    return Packed()
m("packed_gru",packed(nn.GRU(3,2,batch_first=True)),R(3,4,3),torch.tensor([2,4,1]))
m("packed_lstm",packed(nn.LSTM(3,2,2,bidirectional=True,batch_first=True)),R(3,4,3),torch.tensor([2,4,1]))
class PackedScript(nn.Module):
    def __init__(s): super().__init__(); s.l=nn.RNN(3,2,batch_first=True)
    def forward(s,x,n):
        o,h=s.l(nn.utils.rnn.pack_padded_sequence(x,n,batch_first=True,enforce_sorted=False))
        y,k=nn.utils.rnn.pad_packed_sequence(o,batch_first=True); return y,h,k
m("packed_script",PackedScript(),R(3,4,3),torch.tensor([2,4,1]),script=True)
m("projected",nn.LSTM(3,4,2,proj_size=2,bidirectional=True),R(3,2,3)); m("projected_long",nn.LSTM(2,3,proj_size=1,batch_first=True),R(1,40,2))
m("encoder_layer",nn.TransformerEncoderLayer(4,2,6,batch_first=True).eval(),R(2,3,4))
class Nested(nn.Module):
    def __init__(s): super().__init__(); s.e=nn.TransformerEncoder(nn.TransformerEncoderLayer(4,2,4,batch_first=True),1)
    def forward(s,x,m_): return s.e(x,src_key_padding_mask=m_)
m("nested_mask",Nested().eval(),R(2,3,4),torch.tensor([[False,False,True],[False,False,False]]))
# quantized modules
torch.backends.quantized.engine="x86" if "x86" in torch.backends.quantized.supported_engines else "qnnpack"
def static(net,*a):
    net=nn.Sequential(torch.quantization.QuantStub(),net,torch.quantization.DeQuantStub()).eval(); net.qconfig=torch.quantization.get_default_qconfig("qnnpack")
    net=torch.quantization.prepare(net); net(*a); return torch.quantization.convert(net)
xq=R(1,2,6,6)
m("quantized_conv",static(nn.Sequential(nn.Conv2d(2,3,3,padding=1),nn.ReLU(),nn.MaxPool2d(2),nn.Conv2d(3,2,2,stride=2)),xq),xq); m("quantized_conv_script",static(nn.Sequential(nn.Conv2d(2,3,3,padding=1),nn.ReLU(),nn.AdaptiveAvgPool2d(2),nn.Flatten(),nn.Linear(12,3)),xq),xq,script=True)
m("quantized_linear",static(nn.Sequential(nn.Linear(4,5),nn.ReLU(),nn.Linear(5,3)),m_x:=R(2,4)),m_x)
class Functional(nn.Module):
    def __init__(s): super().__init__(); s.a=nn.quantized.FloatFunctional(); s.b=nn.quantized.FloatFunctional(); s.c=nn.quantized.FloatFunctional(); s.l=nn.Linear(4,4)
    def forward(s,x): y=s.l(x); return s.c.cat([s.b.mul(s.a.add(x,y),y),x],1)
m("quantized_functional",static(Functional(),m_x),m_x)
m("quantized_dynamic",torch.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4,5),nn.Tanh(),nn.Linear(5,2)),{nn.Linear}),m_x); m("quantized_lstm",torch.quantization.quantize_dynamic(nn.LSTM(3,2,bidirectional=True),{nn.LSTM}),R(3,1,3)); m("quantized_gru",torch.quantization.quantize_dynamic(nn.GRU(3,2,batch_first=True),{nn.GRU}),R(1,3,3))
c("quantize",lambda x: (torch.quantize_per_tensor(x,0.05,3,torch.quint8).dequantize(),torch.quantize_per_tensor(x,0.05,-3,torch.qint8).int_repr(),torch.quantize_per_channel(x,torch.tensor([.0371,.0213,.1117]),torch.tensor([0,1,2]),1,torch.qint8).dequantize()),x)
# gradients of core ATen
o=torch.ops.aten; g4=R(1,2,3,3); x4=R(1,2,6,6)
class ConvBackward(nn.Module):
    def forward(s,g,x,w,h,y,v): return torch.ops.aten.convolution_backward(g,x,w,[4],[2,2],[1,1],[1,1],False,[0,0],1,[True,True,True]), torch.ops.aten.convolution_backward(h,y,v,[4],[1,1],[0,0],[2,2],False,[0,0],2,[True,True,True])
m("conv_backward",ConvBackward(),R(1,4,3,3),x4,R(4,2,3,3),R(2,4,2,2),R(2,2,6,6),R(4,1,3,3),script=True)
class NormBackward(nn.Module):
    def forward(s,g,x,w,h,y):
        a=torch.ops.aten.native_layer_norm_backward(g,x,[4],x.mean(-1,True),1/torch.sqrt(x.var([-1],unbiased=False,keepdim=True)+1e-5),w,w,[True,True,True])
        z=y.reshape(1,2,-1); return a, torch.ops.aten.native_group_norm_backward(h,y,z.mean(-1),1/torch.sqrt(z.var([-1],unbiased=False)+1e-5),w,1,4,9,2,[True,True,True])
m("norm_backward",NormBackward(),R(2,3,4),x,R(4),R(1,4,3,3),R(1,4,3,3),script=True)
c("pool_backward",lambda g,x: (o.avg_pool2d_backward(g,x,[3,3],[2,2],[1,1],False,True,None),o.avg_pool2d_backward(g,x,[2,2],[2,2],[0,0],False,False,None),o._adaptive_avg_pool2d_backward(g,x),o.max_pool2d_with_indices_backward(g,x,[2,2],[2,2],[0,0],[1,1],False,F.max_pool2d(x,2,return_indices=True)[1])),g4,x4)
c("embedding_backward",lambda g,i_: (o.embedding_dense_backward(g,i_,6,-1,False),o.embedding_dense_backward(g,i_,6,2,True)),R(2,3,4),I(2,3,hi=6))
c("activation_backward",lambda g,x: (o._softmax_backward_data(g,x.softmax(1),1,torch.float32),o._log_softmax_backward_data(g,x.log_softmax(1),1,torch.float32),o.threshold_backward(g,x,0.),o.sigmoid_backward(g,x.sigmoid()),o.tanh_backward(g,x.tanh()),o.gelu_backward(g,x)),R(2,3,4),x)
# the rest
c("factors",lambda x: (torch.linalg.lu_factor(x)+torch.linalg.lu(x)+tuple(t.abs() for t in torch.linalg.qr(x))),R(2,3,3)+2*torch.eye(3)); c("singular",lambda x: (torch.linalg.svdvals(x),torch.linalg.pinv(x),torch.linalg.matrix_rank(x),torch.linalg.cond(x),torch.linalg.norm(x[0],'nuc'),torch.linalg.eigvalsh(x@x.mT)),R(2,4,3)); c("tensorsolve",lambda x,y: (torch.linalg.tensorsolve(x,y),torch.linalg.tensorinv(x)),torch.eye(6).reshape(2,3,6)+R(2,3,6)*.1,R(2,3))
c("windows",lambda x: tuple(f(8,periodic=q)*x[0,0,0] for f in (torch.hann_window,torch.hamming_window,torch.blackman_window,torch.bartlett_window,torch.kaiser_window) for q in (True,False)),x)
c("gcd",lambda x,y: (torch.gcd(x,y),torch.lcm(x,y)),i*6,I(2,3,4)*4); c("index_reduce",lambda x,j,s_: tuple(torch.index_reduce(x,1,j,s_,r,include_self=q) for r in ("prod","mean","amax","amin") for q in (True,False)),x,torch.tensor([0,2,0]),R(2,3,4)); c("gradient",lambda x: tuple(torch.gradient(x))+tuple(torch.gradient(x,spacing=2.,dim=1)),R(3,4)); c("bessel",lambda x: (torch.special.i1(x),torch.special.i1e(x),torch.special.erfcx(x),torch.special.gammainc(x.abs()+.1,(x*x)),torch.special.gammaincc(x.abs()+.1,x*x)),R(12)*5)
c("multilabel",lambda x,y: F.multilabel_margin_loss(x,y),R(2,4),torch.tensor([[3,0,-1,1],[1,-1,0,0]])); c("unpool3",lambda x: F.max_unpool3d(*F.max_pool3d(x,2,return_indices=True),2),R(1,1,4,4,4)); c("adaptive_places",lambda x: F.adaptive_max_pool2d(x,(3,4),return_indices=True)+F.adaptive_max_pool1d(x[0],4,return_indices=True),im); c("histogram",lambda x: tuple(torch.histogram(x,4))+tuple(torch.histogram(x,3,range=(-1.,1.),density=True)),v); c("combinations",lambda x: (torch.combinations(x,3),torch.combinations(x,1),torch.combinations(x,2,True)),v); c("repeats1",lambda r: torch.repeat_interleave(r),torch.tensor([2,0,3])); c("powers",lambda x: (torch.linalg.matrix_power(x,0),torch.linalg.matrix_power(x,-2)),R(3,3)+2*torch.eye(3)); c("pad_less",lambda x: F.pad(x,(1,-1,-1,2),'replicate'),im)
c("embag_padding",lambda w,j,k,o_: tuple(F.embedding_bag(k,w,mode=q,padding_idx=2) for q in ("sum","mean","max"))+tuple(F.embedding_bag(j,w,o_,mode=q,padding_idx=2,include_last_offset=True) for q in ("sum","mean","max")),R(7,3),torch.tensor([1,2,2,0,6,5]),torch.tensor([[2,1],[2,2],[0,4]]),torch.tensor([0,3,3,6]))
class Imaginary(nn.Module):
    def forward(s,x): return torch.view_as_real(torch.fft.rfft(x)*1.5j+(2-0.5j))
m("imaginary",Imaginary(),R(2,5),script=True)
from torch.utils.mobile_optimizer import optimize_for_mobile
m("mobile",optimize_for_mobile(torch.jit.script(nn.Sequential(nn.Conv2d(2,3,2),nn.ReLU6(),nn.Flatten(),nn.Linear(12,2)).eval())),R(1,2,3,3),script=True)
class Lists(nn.Module):
    def forward(s,x):
        y=[x*float(k) for k in range(4)]; names={str(k):v for k,v in enumerate(y)}; assert names["2"] is not None
        if any([x.size(0)>9, False]): y=y[1:]
        return torch.cat(y[::-1]),names["3"],torch.stack(y[3:0:-2]), "{} {}".format(1,2)=="1 2"
m("lists",Lists(),R(2,3),script=True)
class Grow(nn.Module):
    def forward(s,x):
        keep: List[int]=[]; k=0
        while k<x.size(0) and float(x[k])>0.: keep.append(k*2); k+=1
        return torch.tensor(keep),len(keep)
m("grow_numbers",Grow(),torch.tensor([1.,2,3,-1,5]),script=True)

# fmt: on
STORAGES = {torch.float32: "Float", torch.float64: "Double", torch.int64: "Long", torch.int32: "Int", torch.bool: "Bool",
            torch.uint8: "Byte", torch.float16: "Half"}


def example_inputs(tensors):
    """traced_inputs.pkl, as newer versions of PyTorch write it: types and sizes of the example inputs."""
    def text(t):
        return b"X" + struct.pack("<I", len(t)) + t.encode()

    def number(n):
        return b"J" + struct.pack("<i", n)

    out = b"\x80\x02}(" + text("forward") + b"]("
    for k, t in enumerate(tensors):
        out += b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\n" + STORAGES[t.dtype].encode() + b"Storage\n"
        out += text(str(k)) + text("cpu") + number(t.numel()) + b"tQ" + number(0) + b"(" + b"".join(map(number, t.shape)) + b"t("
        out += b"".join(map(number, t.stride())) + b"t\x89ccollections\nOrderedDict\n)RtR"
    return out + b"eu."


def flat(o):
    if isinstance(o, (int, float)):
        return [torch.tensor(o)]
    if isinstance(o, torch.Tensor):
        return [o]
    return [t for q in (o.values() if isinstance(o, dict) else o) for t in flat(q)]


def tensor(t, digits=6):
    t = t.detach()
    numbers = t.float() if t.dtype in (torch.bfloat16, torch.float16) else t
    values = [float(f"{v:.{digits}g}") if isinstance(v, float) else int(v) for v in numbers.flatten().tolist()]
    return {"type": str(numbers.dtype).replace("torch.", ""), "shape": list(t.shape), "data": [str(v) if v != v or abs(v) == float("inf") else v for v in values]}


def make(name, module, inputs, is_script):
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        copies = tuple(t.clone() for t in inputs)
        script = torch.jit.script(module) if is_script else torch.jit.trace(module, copies, check_trace=False)
        script.save(folder + "/m.pt")
        outputs = flat(torch.jit.load(folder + "/m.pt")(*(t.clone() for t in inputs)))
        archive = zipfile.ZipFile(folder + "/m.pt")
        entries = {}
        for path in archive.namelist():
            own = path.split("/", 1)[1]
            if own.endswith("debug_pkl") or own in ("version", "byteorder") or own.startswith(".data"):
                continue
            entries[own] = archive.read(path).decode() if own.endswith(".py") else archive.read(path).hex()
    entries["traced_inputs.pkl"] = example_inputs(inputs).hex()
    if any(t.dtype in (torch.float16, torch.bfloat16) for t in outputs):
        raise ValueError("16 bits")
    return {"name": name, "entries": entries, "inputs": [tensor(t, 9) for t in inputs], "outputs": [tensor(t) for t in outputs]}


def main():
    cases = [(name, Mod(f).eval(), a, False) for name, (f, a) in C.items()]
    cases += [("model_" + name, *row) for name, row in M.items()]
    lines = []
    for name, module, inputs, is_script in cases:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            line = json.dumps(make(name, module, inputs, is_script), separators=(",", ":"))
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[0] if str(error) else error!r}", file=sys.stderr)
            continue
        if len(line) > LIMIT * (3 if name.startswith("model_") else 1):
            print(f"{name}: {len(line)} bytes are too many", file=sys.stderr)
        else:
            lines.append(line)
    print("[" + ",\n".join(lines) + "]")


if __name__ == "__main__":
    main()
