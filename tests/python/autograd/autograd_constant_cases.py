# ruff: noqa: E501  (a case is one line)
"""Cases of derivatives by what is a constant as a rule: weights of losses,
running statistics, scales, bins, places of quantiles, targets.

A line is a function of p and the shape of p, which lies between 0.5 and 1.5 (half
of that, if it says so). The outcome: whether the result has a history, and the
gradient of its sum or the error that stands for it.
"""

from __future__ import annotations

_CALLS = """
F.binary_cross_entropy(torch.ones(2)*.3,torch.ones(2),weight=p)  # 2
F.cross_entropy(torch.eye(2),t2,weight=p)  # 2
F.cross_entropy(torch.eye(2),torch.eye(2),weight=p)  # 2
F.cross_entropy(torch.eye(2),t2,weight=p,label_smoothing=.1)  # 2
F.nll_loss(torch.eye(2),t2,weight=p)  # 2
F.nll_loss(torch.ones(1,2,2,2),torch.zeros(1,2,2).long(),weight=p)  # 2
F.nll_loss(torch.ones(1,2,2,2,2),torch.zeros(1,2,2,2).long(),weight=p)  # 2
F.multilabel_soft_margin_loss(torch.eye(2),torch.eye(2),weight=p)  # 2
F.soft_margin_loss(torch.eye(2),p)  # 2,2
F.hinge_embedding_loss(torch.eye(2),p)  # 2,2
F.margin_ranking_loss(torch.ones(2),torch.zeros(2),p)  # 2
F.cosine_embedding_loss(torch.eye(2),torch.eye(2),p)  # 2
F.poisson_nll_loss(torch.ones(2),p)  # 2
F.gaussian_nll_loss(torch.ones(2),p,torch.ones(2))  # 2
F.kl_div(torch.zeros(2),p,reduction="sum")  # 2
F.mse_loss(torch.ones(2),torch.zeros(2),weight=p)  # 2
F.l1_loss(torch.ones(2),torch.zeros(2),weight=p)  # 2
F.huber_loss(torch.ones(2),torch.zeros(2),weight=p)  # 2
torch.fake_quantize_per_channel_affine(torch.ones(2,2),p,torch.zeros(2).int(),0,0,255)  # 2
torch.fake_quantize_per_tensor_affine(torch.ones(2,2),p,torch.zeros(1).int(),0,255)  # 1
torch._fake_quantize_learnable_per_tensor_affine(torch.ones(2,2),p,torch.zeros(1),0,255)  # 1
F.batch_norm(torch.ones(2,2),p,torch.ones(2))  # 2
F.batch_norm(torch.ones(2,2),torch.ones(2),p)  # 2
F.batch_norm(torch.eye(2),p,torch.ones(2),training=True)  # 2
F.batch_norm(torch.eye(2),torch.ones(2),p,training=True)  # 2
F.instance_norm(torch.rand(2,2,3),p,torch.ones(2))  # 2
F.instance_norm(torch.rand(2,2,3),p,torch.ones(2),use_input_stats=False)  # 2
F.instance_norm(torch.rand(2,2,3),torch.ones(2),p,use_input_stats=False)  # 2
torch.native_batch_norm(torch.eye(2),None,None,p,torch.ones(2),False,.1,1e-5)[0]  # 2
torch.bincount(t2,p)  # 2
torch.histogram(p,3)[0]  # 4
torch.histogram(torch.ones(4),3,weight=p)[0]  # 4
torch.histogramdd(p,[2,2])[0]  # 4,2
torch.histogramdd(torch.rand(4,2),[2,2],weight=p)[0]  # 4
torch.histc(p,3)  # 4
torch.linalg.ldl_factor(p@p.t())[0]  # 2,2
torch.linalg.ldl_factor_ex(p@p.t())[0]  # 2,2
torch.linalg.ldl_solve(torch.eye(2),torch.tensor([1,2],dtype=torch.int32),p)  # 2,2
torch.geqrf(p)[0]  # 2,2
torch.ormqr(torch.eye(2),torch.ones(2),p)  # 2,2
torch.ormqr(p,torch.ones(2),torch.eye(2))  # 2,2
torch.linalg.householder_product(p,torch.ones(2))  # 2,2
torch.searchsorted(p.sort()[0],torch.ones(2))  # 2
torch.bucketize(p,torch.ones(2))  # 2
torch.heaviside(p,torch.ones(2))  # 2
torch.heaviside(torch.zeros(2),p)  # 2
torch.quantile(torch.tensor([1.,2,4]),p)  # 2 half
torch.nanquantile(torch.tensor([1.,2,4]),p)  # 2 half
torch.zeros(2).bernoulli_(p)  # 2 half
torch.bernoulli(p)  # 2 half
torch.poisson(p)  # 2
torch.normal(p,1.)  # 2
torch.normal(torch.zeros(2),p)  # 2
torch.multinomial(p,1)  # 2
torch.binomial(torch.ones(2),p*.5)  # 2
torch._sample_dirichlet(p)  # 2
F.embedding_bag(torch.tensor([[0,1]]),torch.eye(2),per_sample_weights=p,mode="sum")  # 1,2
F.rrelu(p,training=True)  # 2
torch.nextafter(p,torch.ones(2))  # 2
torch.special.gammainc(p,torch.ones(2))  # 2
torch.special.zeta(p+1,torch.ones(2))  # 2
torch.special.zeta(torch.ones(2)*2,p)  # 2
torch.special.bessel_j0(p)  # 2
torch.special.bessel_y0(p)  # 2
torch.special.chebyshev_polynomial_t(p,torch.ones(2))  # 2
torch.special.airy_ai(p)  # 2
torch.special.modified_bessel_i0(p)  # 2
torch.floor_divide(p,torch.ones(2))  # 2
torch.remainder(torch.ones(2),p)  # 2
torch.fmod(torch.ones(2),p)  # 2
torch.div(p,torch.ones(2),rounding_mode="trunc")  # 2
torch.renorm(p,2,0,1.)  # 2,2
torch.cdist(p,torch.eye(2))  # 2,2
torch.pdist(p)  # 3,2
torch.unique(p)  # 2
torch.unique_consecutive(p)  # 2
F.grid_sample(torch.ones(1,1,2,2),p,align_corners=False)  # 1,1,2,2
torch.lerp(torch.ones(2),torch.zeros(2),p)  # 2
torch.addcdiv(torch.ones(2),torch.ones(2),p)  # 2
torch.polygamma(2,p)  # 2
torch.ldexp(torch.ones(2),p)  # 2
torch.frexp(p)[0]  # 2
torch.signbit(p)  # 2
torch.isclose(p,p)  # 2
torch.cumulative_trapezoid(torch.ones(2),p)  # 2
torch.trapezoid(torch.ones(2),p)  # 2
torch.gradient(torch.ones(3),spacing=(p,))[0]  # 3
torch.cov(torch.eye(2),aweights=p)  # 2
torch.corrcoef(p)  # 2,2
torch.view_as_real(torch.stft(torch.ones(8),4,window=p,return_complex=True))  # 4
F.scaled_dot_product_attention(torch.eye(2)[None],torch.eye(2)[None],torch.eye(2)[None],attn_mask=p)  # 2,2
F.prelu(-torch.ones(2,2),p)  # 1
F.layer_norm(torch.eye(2),(2,),p)  # 2
F.dropout(p,0.)  # 2
F.channel_shuffle(p,1)  # 1,2,2
torch.linalg.cross(p,torch.ones(3))  # 3
torch.linalg.lstsq(p,torch.eye(2))[0]  # 2,2
torch.matrix_exp(p)  # 2,2
torch.segment_reduce(p,"sum",lengths=torch.tensor([1,1]))  # 2
torch.linalg.vander(p)  # 2
torch.zeros(3).put(t2,p)  # 2
torch.zeros(3).index_fill(0,t2,p[0])  # 2
torch.zeros(2).masked_fill(torch.tensor([True,False]),p[0])  # 2
torch.clamp(torch.zeros(2),min=p)  # 2
torch._weight_norm(torch.eye(2),p,0)  # 2,1
F.rms_norm(torch.eye(2),(2,),p)  # 2
F.adaptive_max_pool1d(p,1,return_indices=True)[0]  # 1,1,3
F.ctc_loss(p.log_softmax(2),torch.tensor([[1,2]]),torch.tensor([5]),torch.tensor([2]))  # 5,1,3
"""


def _case(text: str, shape: str):
    sizes = shape.removesuffix(" half")

    def differentiated(lib):
        names = {"torch": lib, "F": lib.nn.functional, "t2": lib.tensor([0, 1])}
        p = lib.rand(*eval(f"({sizes},)")) + 0.5
        if shape.endswith("half"):
            p = p * 0.5
        p.requires_grad_()
        result = eval(f"lambda p: {text}", names)(p)
        if not result.requires_grad:
            return False
        try:
            result.sum().backward()
        except RuntimeError as error:
            return [True, type(error).__name__]
        return [True, p.grad]

    return differentiated


CASES = {
    text: _case(text, shape)
    for text, shape in (line.rsplit("  # ", 1) for line in _CALLS.strip().splitlines())
}
